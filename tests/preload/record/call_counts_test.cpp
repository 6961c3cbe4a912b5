#include "record/call_counts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

using namespace kumihimo::record;
using kumihimo::mpi_hooks::Language;
using kumihimo::mpi_hooks::Name;

namespace {

TEST(Rows, AreFoundAgainByTheirKeysAndStayWhereTheyAre) {
  std::mt19937_64 random(11);
  Rows rows;
  std::map<std::tuple<std::uintptr_t, std::uint32_t, int, bool, int, bool>, std::pair<Row*, std::int64_t>> expected;
  for (int i = 0; i < 50'000; ++i) {
    const Key key{0x400000 + random() % 500 * 16,
                  static_cast<std::uint32_t>(random() % 5),
                  static_cast<Name>(random() % 3),
                  random() % 2 == 0,
                  {static_cast<std::uint8_t>(random() % 3), ChoiceKey::none, ChoiceKey::none,
                   static_cast<std::uint8_t>(random() % 2)}};
    Row& row = rows.at(key);
    EXPECT_EQ(row.key, key);
    ++row.calls;
    auto& known = expected[{key.site, key.communicator, static_cast<int>(key.name), key.python, key.question.size_class,
                            key.question.in_place != 0}];
    if (known.second == 0) known.first = &row;
    EXPECT_EQ(known.first, &row);
    ++known.second;
  }
  EXPECT_EQ(rows.all().size(), expected.size());
  for (const auto& [key, known] : expected) EXPECT_EQ(known.first->calls, known.second);
}

TEST(Found, IsAnEntryForAllThatItDependsOn) {
  const KnownHandle known{7, 3, nullptr, 1, false, Language::c};
  EXPECT_TRUE(known.is(7, 3, false, Language::c));
  EXPECT_FALSE(known.is(8, 3, false, Language::c));
  EXPECT_FALSE(known.is(7, 4, false, Language::c)) << "a communicator has ended";
  EXPECT_FALSE(known.is(7, 3, true, Language::c)) << "a window";
  EXPECT_FALSE(known.is(7, 3, false, Language::fortran)) << "an integer of Fortran";
  const int here = 0, there = 0;
  const CallSite site{&here, nullptr, 2, Name::Put};
  EXPECT_TRUE(site.is(&here, 2, Name::Put));
  EXPECT_FALSE(site.is(&there, 2, Name::Put));
  EXPECT_FALSE(site.is(&here, 1, Name::Put));
  EXPECT_FALSE(site.is(&here, 2, Name::Get)) << "by a pointer to a function";
  EXPECT_FALSE(KnownHandle{}.is(0, 1, false, Language::c)) << "none is known at first";
}

TEST(Rows, ScaleTheTimeApartToAllCalls) {
  Row row;
  row.calls = 10, row.apart_ns = 300, row.apart_calls = 3, row.most_apart_ns = 5000;
  EXPECT_EQ(row.apart_ns_of_all(), 1000);
  row.apart_ns = 0, row.apart_calls = 0;
  EXPECT_EQ(row.apart_ns_of_all(), 5000) << "at most, where no call before was timed";
}

TEST(Histograms, HaveAClassForEachPowerOfTwo) {
  EXPECT_EQ(class_of(0), 0u);
  EXPECT_EQ(class_of(1), 1u);
  EXPECT_EQ(class_of(3), 2u);
  EXPECT_EQ(class_of(4), 3u);
  for (int k = 1; k < 62; ++k) {
    EXPECT_EQ(class_of(std::int64_t{1} << k), static_cast<std::size_t>(k) + 1);
    EXPECT_EQ(class_of((std::int64_t{1} << k) - 1), static_cast<std::size_t>(k));
  }
}

} // namespace
