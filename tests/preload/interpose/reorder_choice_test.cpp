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
std::int64_t cost_of(const Traffic& traffic, const ReorderedProcesses& processes,
                     const std::vector<std::int32_t>& new_rank) {
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

// Bytes between packages of one node, by the definition; a node with an unknown one counts as one package.
std::int64_t cost_of_packages(const Traffic& traffic, const ReorderedProcesses& processes,
                              const std::vector<std::int32_t>& new_rank) {
  std::vector<std::size_t> process(new_rank.size());
  for (std::size_t p = 0; p < new_rank.size(); ++p) process[static_cast<std::size_t>(new_rank[p])] = p;
  const auto is_known = [&](std::int64_t node) {
    for (std::size_t p = 0; p < processes.node.size(); ++p)
      if (processes.node[p] == node && processes.package[p] == -1) return false;
    return true;
  };
  std::int64_t sum = 0;
  for (std::int32_t r = 0; r < traffic.ranks(); ++r)
    for (const Traffic::Flow& flow : traffic.from(Rank{r})) {
      const std::size_t a = process[std::size_t(r)], b = process[std::size_t(flow.to.value)];
      if (processes.node[a] == processes.node[b] && processes.package[a] != processes.package[b] &&
          is_known(processes.node[a]))
        sum += flow.bytes;
    }
  return sum;
}

// Numbered at random: nothing of the grid is left in the ranks.
Traffic shuffled_torus(std::int32_t length) {
  mapping::Random random(3);
  std::vector<std::int32_t> number(static_cast<std::size_t>(length * length));
  std::iota(number.begin(), number.end(), 0);
  for (std::size_t left = number.size(); left > 1; --left) std::swap(number[left - 1], number[random.below(left)]);
  const auto at = [&](std::int32_t x, std::int32_t y) {
    return Rank{number[static_cast<std::size_t>(x % length * length + y % length)]};
  };
  TrafficBuilder builder = *TrafficBuilder::make(length * length);
  for (std::int32_t x = 0; x < length; ++x)
    for (std::int32_t y = 0; y < length; ++y)
      for (const Rank to : {at(x + 1, y), at(x, y + 1)}) {
        EXPECT_TRUE(builder.add(at(x, y), to, 1, 1));
        EXPECT_TRUE(builder.add(to, at(x, y), 1, 1));
      }
  return *std::move(builder).build();
}

TEST(NewRanks, FindTheGridInAGraphOfAnyNumbering) {
  ReorderedProcesses processes;
  for (std::int64_t p = 0; p < 256; ++p) processes.node.push_back(p / 16);
  const NewRanks found = *choose_ranks(shuffled_torus(16), processes, {});
  EXPECT_EQ(found.nodes.after, 16 * 16); // squares of 4x4, each with 16 edges to others
  EXPECT_GT(found.nodes.before, 900);
}

TEST(NewRanks, OfACyclicStartAreTheBestBoxes) {
  const Shape grid = *Shape::parse("16x16x16");
  TrafficBuilder builder = *TrafficBuilder::make(4096);
  for (std::int32_t p = 0; p < 4096; ++p)
    for (std::int32_t axis = 0; axis < 3; ++axis)
      for (const std::int32_t step : {1, -1})
        ASSERT_TRUE(builder.add(Rank{p}, Rank{grid.shifted(p, axis, step)}, 1, 1));
  ReorderedProcesses processes; // block order is better, and boxes of 4x4x4 are the best
  for (std::int64_t p = 0; p < 4096; ++p) processes.node.push_back(p % 64);
  EXPECT_EQ(choose_ranks(*std::move(builder).build(), processes, grid)->nodes.after, 64 * 96);
}

TEST(NewRanks, OfANodeShareAPackageWithTheirNeighbours) {
  const Traffic ring = ring_of(16);
  ReorderedProcesses processes;
  for (std::int32_t p = 0; p < 16; ++p) processes.node.push_back(p / 8), processes.package.push_back(p % 2);
  const NewRanks found = *choose_ranks(ring, processes, {});
  EXPECT_EQ(found.nodes.after, found.nodes.before);
  EXPECT_EQ(found.packages.before, 2 * 7 * 10);
  EXPECT_EQ(found.packages.after, 2 * 10);
  EXPECT_TRUE(found.are_better());
  processes.package[3] = -1; // then only the other node has two
  const NewRanks half = *choose_ranks(ring, processes, {});
  EXPECT_EQ(half.packages.before, 7 * 10);
  EXPECT_EQ(half.packages.after, 10);
  processes.package[12] = -1;
  EXPECT_FALSE(choose_ranks(ring, processes, {})->are_better());
}

TEST(NewRanks, PutTheRingOfAlternatingNodesInOrder) {
  const Traffic ring = ring_of(12);
  ReorderedProcesses processes;
  for (std::int64_t p = 0; p < 12; ++p) processes.node.push_back(1000 - p % 3); // any names
  const NewRanks found = *choose_ranks(ring, processes, Shape({{12, true}}));
  EXPECT_EQ(found.nodes.before, 12 * 10);
  EXPECT_EQ(found.nodes.after, 3 * 10);
  EXPECT_TRUE(found.are_better());
  EXPECT_TRUE(is_permutation_of_ranks(found.of_process));
  EXPECT_EQ(cost_of(ring, processes, found.of_process), found.nodes.after);
}

TEST(NewRanks, StayWhereTheyAreTheBest) {
  const Traffic ring = ring_of(8);
  const ReorderedProcesses processes{{4, 4, 4, 4, 9, 9, 9, 9}, {}};
  const NewRanks found = *choose_ranks(ring, processes, {});
  EXPECT_EQ(found.nodes.before, found.nodes.after);
  EXPECT_FALSE(found.are_better());
  EXPECT_EQ(found.of_process, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(NewRanks, AGainBelowTwoPercentIsNone) {
  EXPECT_FALSE((NewRanks{{}, {100, 98}, {}}.are_better()));
  EXPECT_TRUE((NewRanks{{}, {100, 97}, {}}.are_better()));
  EXPECT_FALSE((NewRanks{{}, {0, 0}, {0, 0}}.are_better()));
  EXPECT_TRUE((NewRanks{{}, {100, 100}, {100, 97}}.are_better()));
  EXPECT_FALSE((NewRanks{{}, {100, 100}, {100, 98}}.are_better()));
  EXPECT_TRUE((NewRanks{{}, {100, 97}, {100, 200}}.are_better()));
  EXPECT_FALSE((NewRanks{{}, {100, 101}, {100, 0}}.are_better())); // of nodes first
}

TEST(NewRanks, OfAnyTrafficOnAnyNodesAreNeverWorse) {
  mapping::Random random(7);
  int better = 0, packages_fell = 0;
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
    ReorderedProcesses processes; // some nodes may have none
    for (std::int32_t p = 0; p < ranks; ++p)
      processes.node.push_back(static_cast<std::int64_t>(random.below(std::uint64_t(nodes))));
    if (turn % 2 == 0) processes.network = Shape({{nodes, true}});
    for (std::int32_t p = 0; p < ranks && turn % 3 == 0; ++p)
      processes.package.push_back(static_cast<std::int32_t>(random.below(4)) - (turn % 2));
    const Result<NewRanks> found = choose_ranks(*traffic, processes, {});
    ASSERT_TRUE(found.ok());
    std::vector<std::int32_t> old(static_cast<std::size_t>(ranks));
    std::iota(old.begin(), old.end(), 0);
    ASSERT_TRUE(is_permutation_of_ranks(found->of_process));
    EXPECT_EQ(found->nodes.before, cost_of(*traffic, processes, old));
    EXPECT_EQ(found->nodes.after, cost_of(*traffic, processes, found->of_process));
    EXPECT_LE(found->nodes.after, found->nodes.before);
    better += found->are_better();
    if (!processes.package.empty()) {
      EXPECT_EQ(found->packages.before, cost_of_packages(*traffic, processes, old));
      EXPECT_EQ(found->packages.after, cost_of_packages(*traffic, processes, found->of_process));
      if (found->nodes.after == found->nodes.before) {
        EXPECT_LE(found->packages.after, found->packages.before);
      }
      packages_fell += found->packages.fall();
    }
    std::reverse(old.begin(), old.end());
    EXPECT_EQ(judge_ranks(*traffic, processes, old)->nodes.after, cost_of(*traffic, processes, old));
  }
  EXPECT_GT(better, 150);
  EXPECT_GT(packages_fell, 10);
}

} // namespace
} // namespace kumihimo::interpose
