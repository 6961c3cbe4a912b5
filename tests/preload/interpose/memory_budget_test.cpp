#include "interpose/memory_budget.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kumihimo::interpose {
namespace {

std::vector<MemoryBudget::Share> filled(MemoryBudget& budget, std::int32_t ranks, bool must = false) {
  std::vector<MemoryBudget::Share> shares;
  while (const auto share = budget.take(ranks, must)) shares.push_back(*share);
  return shares;
}

TEST(MemoryBudget, The_first_has_what_there_is_and_the_rest_ever_less) {
  MemoryBudget budget;
  const std::vector<MemoryBudget::Share> shares = filled(budget, 2);
  ASSERT_EQ(shares.size(), static_cast<std::size_t>(MemoryBudget::most));
  EXPECT_EQ(shares[0].shared_memory_limit_bytes, -1);
  for (std::size_t i = 2; i < shares.size(); ++i)
    EXPECT_LE(shares[i].shared_memory_limit_bytes, shares[i - 1].shared_memory_limit_bytes);
  EXPECT_LT(shares[2].shared_memory_limit_bytes, shares[1].shared_memory_limit_bytes);
  EXPECT_LT(shares.back().shared_memory_limit_bytes, shares[2].shared_memory_limit_bytes);
}

TEST(MemoryBudget, Of_more_ranks_a_node_there_are_fewer_and_never_less_than_the_best) {
  for (const std::int32_t ranks : {3, 4, 8, 100, 1000}) {
    MemoryBudget budget;
    const std::vector<MemoryBudget::Share> shares = filled(budget, ranks);
    EXPECT_LT(shares.size(), static_cast<std::size_t>(MemoryBudget::most)) << ranks;
    EXPECT_GE(shares.size(), 2u) << ranks;
    std::int64_t taken = 0;
    for (const MemoryBudget::Share& share : shares) taken += share.taken_bytes;
    EXPECT_LE(taken, 1 << 20) << ranks;
  }
}

// While this holds, sessions set up communicators that may never be used.
TEST(MemoryBudget, While_it_leaves_room_two_others_get_rings_after_one_more) {
  for (const std::int32_t ranks : {2, 3, 4, 5, 8, 64}) {
    MemoryBudget budget;
    ASSERT_TRUE(budget.take(ranks, false)); // the world
    int taken = 0;
    for (; budget.leaves_room(ranks); ++taken) ASSERT_TRUE(budget.take(ranks, false)) << ranks;
    EXPECT_GE(taken, 2) << ranks;
    EXPECT_EQ(filled(budget, ranks).size(), 2u) << ranks;
  }
}

TEST(MemoryBudget, What_is_given_back_may_be_taken_again) {
  for (const std::int32_t ranks : {1, 2, 4}) {
    MemoryBudget budget;
    const std::vector<MemoryBudget::Share> shares = filled(budget, ranks);
    EXPECT_FALSE(budget.take(ranks, false));
    budget.give_back(shares.back());
    const auto again = budget.take(ranks, false);
    ASSERT_TRUE(again) << ranks;
    EXPECT_EQ(again->shared_memory_limit_bytes, shares.back().shared_memory_limit_bytes);
  }
}

TEST(MemoryBudget, A_part_is_as_good_as_a_new_one_while_others_live) {
  MemoryBudget budget;
  const auto first = budget.take(2, false), second = budget.take(2, false), third = budget.take(2, false);
  ASSERT_TRUE(first && second && third);
  EXPECT_FALSE(first->is_small() || second->is_small());
  EXPECT_TRUE(third->is_small());
  for (const auto& share : {*first, *second, *third}) EXPECT_FALSE(budget.has_better(share, 2, false));
  budget.give_back(*second);
  EXPECT_TRUE(budget.has_better(*third, 2, false)); // the second one's
  EXPECT_FALSE(budget.has_better(*first, 2, false));
  budget.give_back(*first);
  EXPECT_TRUE(budget.has_better(*third, 2, false));
  EXPECT_EQ(budget.take(2, false)->shared_memory_limit_bytes, second->shared_memory_limit_bytes); // nothing was taken
}

TEST(MemoryBudget, Where_all_must_be_ours_small_rings_are_never_short) {
  MemoryBudget budget;
  EXPECT_EQ(filled(budget, 4, true).size(), static_cast<std::size_t>(MemoryBudget::most_reproducible));
}

TEST(MemoryBudget, Ranks_of_nodes_of_their_own_take_no_memory) {
  MemoryBudget budget;
  for (const MemoryBudget::Share& share : filled(budget, 1)) EXPECT_EQ(share.taken_bytes, 0);
}

} // namespace
} // namespace kumihimo::interpose
