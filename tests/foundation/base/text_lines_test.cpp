#include "base/text_lines.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

TEST(TextLines, EndWithLfCrlfOrCr) {
  for (const char* text : {"a b\n\nc", "a b\n\nc\n", "a b\r\n\r\nc\r\n", "a b\r\rc\r",
                           "\xef\xbb\xbf"
                           "a b\r\rc"}) {
    TextLines lines(text);
    std::vector<std::string_view> found;
    while (lines.are_left()) found.push_back(trimmed(lines.next()));
    EXPECT_EQ(found, (std::vector<std::string_view>{"a b", "", "c"})) << text;
    EXPECT_EQ(lines.number(), 3);
  }
}

} // namespace
} // namespace kumihimo
