#include "record/call_counts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

using namespace kumihimo::record;
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
                  {static_cast<std::uint8_t>(random() % 3), Question::none, Question::none,
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
