#include "record/regions.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <thread>

using namespace kumihimo::record;

namespace {

TEST(Regions, LieWithinEachOtherAndApartByThread) {
  const Counters counters;
  Regions regions(counters);
  regions.begin("outer", "", 100);
  regions.begin("inner", "seconds <= 1", 150);
  std::thread([&] { regions.end("outer", 0); }).join(); // not this thread's
  regions.end("inner", 170);
  regions.end("outer", 400);
  const auto all = regions.all();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at({"outer", ""}).mpi_ns, 300);
  EXPECT_EQ(all.at({"inner", "seconds <= 1"}).mpi_ns, 20);
  EXPECT_GE(all.at({"outer", ""}).ns, all.at({"inner", "seconds <= 1"}).ns);
  EXPECT_EQ(regions.unbegun(), std::vector<std::string>{"outer"});
}

TEST(Regions, OfAThreadThatHasEndedAreNotTheNextOnes) {
  const Counters counters;
  Regions regions(counters);
  for (int i = 0; i < 3; ++i) std::thread([&] { regions.begin("open", "", 0); }).join();
  std::thread([&] { regions.end("open", 0); }).join();
  EXPECT_EQ(regions.unbegun(), std::vector<std::string>{"open"});
  EXPECT_TRUE(regions.all().empty());
}

TEST(Regions, WithoutEndAreTold) {
  const Counters counters;
  Regions regions(counters);
  regions.begin("open", "", 0);
  regions.begin("perhaps none", "", 0, false);
  EXPECT_EQ(regions.all().at({"open", ""}).unended, 1);
  EXPECT_EQ(regions.all().count({"perhaps none", ""}), 0u);
}

TEST(Texts, AreReadWhereverAnAddressPoints) {
  EXPECT_EQ(text_at("solve"), "solve");
  EXPECT_EQ(text_at(nullptr), std::nullopt);
  EXPECT_EQ(text_at(reinterpret_cast<const void*>(~std::uintptr_t{0} - 7)), std::nullopt);
  EXPECT_EQ(text_at(""), std::nullopt);
  EXPECT_EQ(text_at("\x01\x02"), std::nullopt);
  EXPECT_EQ(text_at(std::string(300, 'x').c_str()), std::nullopt);
  // At the end of what can be read, with and without an end of the text.
  auto* const page =
      static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(page, MAP_FAILED);
  mprotect(page + 4096, 4096, PROT_NONE);
  std::memcpy(page + 4092, "abcd", 4);
  EXPECT_EQ(text_at(page + 4092), std::nullopt);
  page[4095] = '\0';
  EXPECT_EQ(text_at(page + 4092), "abc");
  EXPECT_EQ(text_at(page + 4096), std::nullopt);
  munmap(page, 8192);
}

TEST(Texts, GoOnInTheNextPage) {
  auto* const page =
      static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(page, MAP_FAILED);
  for (const std::size_t length : {1, 5, 199, 200}) {
    std::memset(page, 0, 8192);
    std::memset(page + 4094, 'a', length);
    EXPECT_EQ(text_at(page + 4094), std::string(length, 'a'));
  }
  page[4094 + 200] = 'a';
  EXPECT_EQ(text_at(page + 4094), std::nullopt); // too long
  munmap(page, 8192);
}

} // namespace
