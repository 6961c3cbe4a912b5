// New ranks for topologies: a permutation, never worse than the old order, and better where the old one is bad.
#include "interpose/reorder_choice.hpp"
#include "mapping/search/tools.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace kumihimo::interpose {
namespace {

Traffic ring_of(std::int32_t ranks) {
  TrafficBuilder builder = *TrafficBuilder::make(ranks);
  for (std::int32_t r = 0; r < ranks; ++r)
    for (const std::int32_t step : {1, ranks - 1}) EXPECT_TRUE(builder.add(Rank{r}, Rank{(r + step) % ranks}, 5, 1));
  return *std::move(builder).build();
}

bool is_permutation_of_ranks(std::vector<std::int32_t> ranks) {
  std::vector<std::int32_t> all(ranks.size());
  std::iota(all.begin(), all.end(), 0);
  std::sort(ranks.begin(), ranks.end());
  return ranks == all;
}

// Bytes between nodes, or times hops on a ring of nodes, by the definition.
std::int64_t cost_of(const Traffic& traffic, const Processes& processes, const std::vector<std::int32_t>& new_rank) {
  std::vector<std::int64_t> node_of_rank(new_rank.size());
  for (std::size_t p = 0; p < new_rank.size(); ++p)
    node_of_rank[static_cast<std::size_t>(new_rank[p])] = processes.node[p];
  std::int64_t sum = 0;
  for (std::int32_t r = 0; r < traffic.ranks(); ++r)
    for (const Traffic::Flow& flow : traffic.from(Rank{r})) {
      std::int64_t apart = std::abs(node_of_rank[std::size_t(r)] - node_of_rank[std::size_t(flow.to.value)]);
      if (processes.network) apart = std::min<std::int64_t>(apart, processes.network->places() - apart);
      sum += flow.bytes * (processes.network ? apart : apart != 0);
    }
  return sum;
}

TEST(NewRanks, PutTheRingOfAlternatingNodesInOrder) {
  const Traffic ring = ring_of(12);
  Processes processes;
  for (std::int64_t p = 0; p < 12; ++p) processes.node.push_back(1000 - p % 3); // any names
  const NewRanks found = *choose_ranks(ring, processes, Shape({{12, true}}));
  EXPECT_EQ(found.before, 12 * 10);
  EXPECT_EQ(found.after, 3 * 10);
  EXPECT_TRUE(found.is_better());
  EXPECT_TRUE(is_permutation_of_ranks(found.of_process));
  EXPECT_EQ(cost_of(ring, processes, found.of_process), found.after);
}

TEST(NewRanks, StayWhereTheyAreTheBest) {
  const Traffic ring = ring_of(8);
  const Processes processes{{4, 4, 4, 4, 9, 9, 9, 9}, {}};
  const NewRanks found = *choose_ranks(ring, processes, {});
  EXPECT_EQ(found.before, found.after);
  EXPECT_FALSE(found.is_better());
  EXPECT_EQ(found.of_process, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(NewRanks, AGainBelowTwoPercentIsNone) {
  EXPECT_FALSE((NewRanks{{}, 100, 98}.is_better()));
  EXPECT_TRUE((NewRanks{{}, 100, 97}.is_better()));
  EXPECT_FALSE((NewRanks{{}, 0, 0}.is_better()));
}

TEST(NewRanks, OfAnyTrafficOnAnyNodesAreNeverWorse) {
  mapping::Random random(7);
  int better = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const auto ranks = static_cast<std::int32_t>(2 + random.below(14)),
               nodes = static_cast<std::int32_t>(1 + random.below(6));
    TrafficBuilder builder = *TrafficBuilder::make(ranks);
    for (std::int32_t line = 0; line < 3 * ranks; ++line)
      ASSERT_TRUE(builder.add(Rank{static_cast<std::int32_t>(random.below(std::uint64_t(ranks)))},
                              Rank{static_cast<std::int32_t>(random.below(std::uint64_t(ranks)))},
                              static_cast<std::int64_t>(random.below(1000)), 1));
    const Result<Traffic> traffic = std::move(builder).build();
    if (!traffic) continue;
    Processes processes; // some nodes may have none
    for (std::int32_t p = 0; p < ranks; ++p)
      processes.node.push_back(static_cast<std::int64_t>(random.below(std::uint64_t(nodes))));
    if (turn % 2 == 0) processes.network = Shape({{nodes, true}});
    const Result<NewRanks> found = choose_ranks(*traffic, processes, {});
    ASSERT_TRUE(found.ok());
    std::vector<std::int32_t> old(static_cast<std::size_t>(ranks));
    std::iota(old.begin(), old.end(), 0);
    ASSERT_TRUE(is_permutation_of_ranks(found->of_process));
    EXPECT_EQ(found->before, cost_of(*traffic, processes, old));
    EXPECT_EQ(found->after, cost_of(*traffic, processes, found->of_process));
    EXPECT_LE(found->after, found->before);
    better += found->is_better();
    std::reverse(old.begin(), old.end());
    EXPECT_EQ(judge_ranks(*traffic, processes, old)->after, cost_of(*traffic, processes, old));
  }
  EXPECT_GT(better, 150);
}

} // namespace
} // namespace kumihimo::interpose
