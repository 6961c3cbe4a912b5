#include "record/regions.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

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
  regions.begin("perhaps none", "", 0, {}, false);
  EXPECT_EQ(regions.all().at({"open", ""}).unended, 1);
  EXPECT_EQ(regions.all().count({"perhaps none", ""}), 0u);
}

TEST(Regions, KnowWhereTheyBeginAndWhoIsInThem) {
  const Counters counters;
  Regions regions(counters);
  std::thread([&] {
    regions.begin("outer", "", 0, {.file = "solver.c", .line = 41});
    regions.begin("inner", "", 0, {.address = 4096});
    for (RegionCounts* region : regions.around()) region->waiting_ns += 5;
    regions.end("inner", 0);
    for (RegionCounts* region : regions.around()) region->waiting_ns += 2;
    regions.end("outer", 0);
    EXPECT_TRUE(regions.around().empty());
    regions.begin("outer", "", 0, {.file = "other.c", .line = 7}); // the first place is kept
    regions.end("outer", 0);
  }).join();
  const auto all = regions.all();
  EXPECT_EQ(all.at({"outer", ""}).file, "solver.c");
  EXPECT_EQ(all.at({"outer", ""}).line, 41);
  EXPECT_EQ(all.at({"outer", ""}).waiting_ns, 7);
  EXPECT_EQ(all.at({"outer", ""}).sample.kept().size(), 2u);
  EXPECT_EQ(all.at({"inner", ""}).address, 4096u);
  EXPECT_EQ(all.at({"inner", ""}).waiting_ns, 5);
}

TEST(PassageSample, KeepsAllOfFew) {
  PassageSample sample;
  for (std::int64_t i = 0; i < 255; ++i) sample.add(i);
  ASSERT_EQ(sample.kept().size(), 255u);
  for (std::int64_t i = 0; i < 255; ++i) EXPECT_EQ(sample.kept()[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(sample.stride(), 1);
}

// One of each stride, in order, with no preference for odd or even ones or any other place in a loop of the program.
TEST(PassageSample, IsSpreadEvenlyOverMany) {
  for (const std::int64_t passages : {300, 1000, 10'000, 100'000}) {
    PassageSample sample;
    for (std::int64_t i = 0; i < passages; ++i) sample.add(i);
    const auto& kept = sample.kept();
    EXPECT_GE(kept.size(), PassageSample::most / 2 - 1) << passages;
    EXPECT_LT(kept.size(), PassageSample::most) << passages;
    EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
    for (std::size_t i = 1; i < kept.size(); ++i) EXPECT_LT(kept[i] - kept[i - 1], 2 * sample.stride()) << passages;
    for (const std::int64_t period : {2, 3, 4, 8}) {
      const auto first = std::count_if(kept.begin(), kept.end(), [&](std::int64_t i) { return i % period == 0; });
      const double expected = static_cast<double>(kept.size()) / static_cast<double>(period);
      EXPECT_NEAR(static_cast<double>(first), expected, 3 * std::sqrt(expected)) << passages << " by " << period;
    }
  }
}

TEST(PassageSample, IsTheSameForAsManyPassages) {
  PassageSample one, other;
  for (std::int64_t i = 0; i < 5000; ++i) one.add(i), other.add(i);
  EXPECT_EQ(one.kept(), other.kept());
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
