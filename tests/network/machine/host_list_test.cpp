#include "machine/host_list.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kumihimo {
namespace {

using Names = std::vector<std::string>;

TEST(HostList, ExpandsBrackets) {
  EXPECT_EQ(*parse_host_list("a,b[01-03,7]c[0-1], d"),
            (Names{"a", "b01c0", "b01c1", "b02c0", "b02c1", "b03c0", "b03c1", "b7c0", "b7c1", "d"}));
  EXPECT_EQ(*parse_host_list("n[098-101]"), (Names{"n098", "n099", "n100", "n101"}));
  EXPECT_EQ(*parse_host_list(""), Names{});
}

TEST(HostList, IsRefusedWhereItIsNone) {
  for (const char* text : {"n[1", "n1]", "n[[1]]", "n[3-1]", "n[]", "n[a]", "n[1-]", "n[-1]", "n[1-2-3]", "n[1,,2]",
                           "n[1-99999999]", "n[1-2000]m[1-2000]", "n[1234567890]"})
    EXPECT_FALSE(parse_host_list(text).ok()) << text;
  EXPECT_EQ(parse_host_list("n[1").error().sentence(),
            "a host list is written like n[01-03,7] (got 'n[1'); close each bracket");
  EXPECT_EQ(parse_host_list("n[1-999999999999]").error().sentence(),
            "a number in a host list has at most 9 digits (got '999999999999')");
}

TEST(HostList, IsWrittenSoThatItReadsTheSame) {
  EXPECT_EQ(host_list({"n01", "n02", "n03", "n5", "login", "login"}), "n[01-03],n5,login,login");
  EXPECT_EQ(host_list({"n9", "n10", "12", "13", "x123456789012"}), "n9,n10,[12-13],x123456789012");
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    Names names;
    for (std::size_t n = random() % 12; n > 0; --n)
      names.push_back(Names{"a", "b0", "", "c-"}[random() % 4] + std::to_string(random() % 12) +
                      Names{"", "x"}[random() % 8 == 0]);
    EXPECT_EQ(*parse_host_list(host_list(names)), names) << host_list(names);
  }
}

} // namespace
} // namespace kumihimo
