// Every size has one value, and classes of equal values are joined: against a plain list of values.
#include "base/size_map.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kumihimo {
namespace {

TEST(SizeMap, IsAPlainListOfValues) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 300; ++turn) {
    SizeMap<char> map('a');
    std::vector<char> plain(40, 'a');
    for (int change = 0; change < 6; ++change) {
      const auto one = static_cast<std::int64_t>(random() % 40), two = static_cast<std::int64_t>(random() % 40);
      const SizeRange range{std::min(one, two), std::max(one, two)};
      const char value = "abc"[random() % 3];
      map.set(range, value);
      std::fill(plain.begin() + range.from, plain.begin() + range.to + 1, value);
      for (std::int64_t size = 0; size < 40; ++size)
        ASSERT_EQ(map.at(size), plain[static_cast<std::size_t>(size)]) << turn;
      for (std::size_t i = 1; i < map.classes().size(); ++i) {
        ASSERT_LT(map.classes()[i - 1].to, map.classes()[i].to);
        ASSERT_NE(map.classes()[i - 1].value, map.classes()[i].value) << "neighbours that are equal are one class";
      }
      ASSERT_EQ(map.classes().back().to, SizeRange{}.to);
    }
  }
}

// The entries of a wisdom file, in its order.
TEST(SizeMap, GivesASizeToTheFirstThatFits) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 300; ++turn) {
    SizeMap<char> map('a'), reversed('a');
    std::vector<std::pair<SizeRange, char>> entries;
    for (int entry = 0; entry < 6; ++entry) {
      const auto one = static_cast<std::int64_t>(random() % 40), two = static_cast<std::int64_t>(random() % 40);
      const std::int64_t last = one + two > 70 ? SizeRange{}.to : std::max(one, two);
      entries.push_back({{std::min(one, two), last}, "abc"[random() % 3]});
      map.give(entries.back().first, entries.back().second);
    }
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) reversed.set(entry->first, entry->second);
    ASSERT_EQ(map.classes(), reversed.classes()) << turn;
  }
}

TEST(SizeMap, RangesMayHaveNoEnd) {
  SizeMap<int> map(1);
  map.set({100, SizeRange{}.to}, 2);
  EXPECT_EQ(map.at(99), 1);
  EXPECT_EQ(map.at(SizeRange{}.to), 2);
  map.set({}, 3);
  EXPECT_EQ(map.classes(), (std::vector<SizeMap<int>::Class>{{SizeRange{}.to, 3}}));
}

} // namespace
} // namespace kumihimo
