// The Bine tree by what it is: one tree of all numbers, whose subtrees are numbers in a row.
#include "base/expression.hpp"
#include "collectives/patterns/bine_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace kumihimo {
namespace {

std::set<std::int64_t> below(std::int32_t ranks, std::int64_t number) {
  std::set<std::int64_t> all = {number};
  for (const BinePlace::Child& child : bine_place(ranks, number).children) all.merge(below(ranks, child.number));
  return all;
}

TEST(BineTree, ParentsAndChildrenKnowEachOther) {
  for (const std::int32_t ranks : {1, 2, 4, 8, 64})
    for (std::int64_t number = 0; number < ranks; ++number) {
      const BinePlace place = bine_place(ranks, number);
      EXPECT_EQ(place.parent.has_value(), number != 0);
      for (const BinePlace::Child& child : place.children) {
        const BinePlace there = bine_place(ranks, child.number);
        EXPECT_EQ(there.parent, number);
        EXPECT_EQ(there.steps, child.steps);
      }
      const auto smaller = [](const BinePlace::Child& a, const BinePlace::Child& b) { return a.steps < b.steps; };
      EXPECT_TRUE(std::is_sorted(place.children.begin(), place.children.end(), smaller));
    }
}

TEST(BineTree, ASubtreeIsWhatANumberReaches) {
  for (const std::int32_t ranks : {1, 2, 4, 8, 64}) {
    EXPECT_EQ(static_cast<std::int32_t>(below(ranks, 0).size()), ranks);
    for (std::int64_t number = 0; number < ranks; ++number) {
      const int steps = bine_place(ranks, number).steps;
      std::set<std::int64_t> reached;
      for (std::int64_t i = 0; i < std::int64_t{1} << steps; ++i)
        reached.insert(floor_mod(SwingReach::over(steps).first(number) + i, ranks));
      EXPECT_EQ(below(ranks, number), reached) << number << " of " << ranks;
    }
  }
}

TEST(BineTree, EightRanksByHand) { // distances 3, -1, 1, in this order: 0 tells 3, then -1, then 1
  const BinePlace root = bine_place(8, 0);
  ASSERT_EQ(root.children.size(), 3u);
  EXPECT_EQ(root.children[2].number, 3);
  EXPECT_EQ(root.children[1].number, 7);
  EXPECT_EQ(root.children[0].number, 1);
  EXPECT_EQ(bine_place(8, 4).parent, 3); // an odd number the other way round: 3 + 1
}

} // namespace
} // namespace kumihimo
