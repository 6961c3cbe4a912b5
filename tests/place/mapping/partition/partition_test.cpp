#include "../networks.hpp"
#include "../random_inputs.hpp"
#include "mapping/objective/hop_bytes.hpp"
#include "mapping/partition/bisection.hpp"
#include "mapping/partition/greedy.hpp"
#include "mapping/partition/halves.hpp"
#include "mapping/partition/legal.hpp"
#include "mapping/partition/within_node.hpp"
#include "traffic/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace kumihimo::mapping {
namespace {

TrafficGraph graph_for_cuts(std::int32_t ranks, Random& random) {
  std::vector<std::pair<std::int32_t, TrafficGraph::Edge>> pairs;
  for (std::int32_t pair = 0; pair < 3 * ranks; ++pair) {
    const auto a = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(ranks)));
    const auto b = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(ranks)));
    if (a != b) pairs.push_back({a, {b, 1 + static_cast<std::int64_t>(random.below(50))}});
  }
  return TrafficGraph::of_pairs(ranks, pairs);
}

std::int64_t least_cut(const Halving& halving) { // of all halvings
  const std::int32_t ranks = halving.graph.ranks();
  std::int64_t least = -1;
  for (std::uint32_t ones = 0; ones < (1U << ranks); ++ones) {
    if (std::popcount(ones) != ranks - halving.first) continue;
    std::vector<char> part;
    for (std::int32_t rank = 0; rank < ranks; ++rank) part.push_back(static_cast<char>(ones >> rank & 1));
    const std::int64_t bytes = cut_bytes(halving, part);
    if (least < 0 || bytes < least) least = bytes;
  }
  return least;
}

TEST(Halves, GreedyCutsAreExactAndMostlyTheBest) {
  Random random(3);
  const std::unique_ptr<Partitioner> greedy = greedy_partitioner();
  int best = 0, all = 0;
  for (int round = 0; round < 60; ++round) {
    const auto ranks = static_cast<std::int32_t>(2 + random.below(9));
    const TrafficGraph graph = graph_for_cuts(ranks, random);
    std::vector<std::int64_t> pull;
    for (std::int32_t rank = 0; rank < ranks; ++rank) pull.push_back(static_cast<std::int64_t>(random.below(100)) - 50);
    const auto first = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(ranks) + 1));
    const Halving halving{graph, first, pull};
    const std::vector<char> part = greedy->halve(graph, first, pull, 5).value();
    ASSERT_EQ(std::count(part.begin(), part.end(), 0), first);
    ASSERT_EQ(std::count(part.begin(), part.end(), 1), ranks - first);
    const std::int64_t least = least_cut(halving);
    ASSERT_GE(cut_bytes(halving, part), least);
    best += cut_bytes(halving, part) == least;
    ++all;
  }
  EXPECT_GE(best * 10, all * 9);
}

TEST(Halves, PullsDecideWhereThereAreNoEdges) {
  const TrafficGraph graph = TrafficGraph::of_pairs(4, {});
  const std::vector<std::int64_t> pull = {-5, 7, 3, -1};
  EXPECT_EQ(greedy_partitioner()->halve(graph, 2, pull, 1).value(), (std::vector<char>{1, 0, 0, 1}));
}

TEST(Halves, MakeExactMovesTheVertexOfLeastLoss) {
  const TrafficGraph graph =
      TrafficGraph::of_pairs(3, std::vector<std::pair<std::int32_t, TrafficGraph::Edge>>{{0, {1, 9}}, {1, {2, 1}}});
  const std::vector<std::int64_t> no_pull(3, 0);
  std::vector<char> part = {0, 0, 0};
  make_exact({graph, 2, no_pull}, part);
  EXPECT_EQ(part, (std::vector<char>{0, 0, 1}));
}

TEST(LegalMap, SurplusRanksGoToTheNearestFreeSlot) {
  const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("8")), Slots(8, 1));
  const TrafficGraph graph =
      TrafficGraph::of_pairs(3, std::vector<std::pair<std::int32_t, TrafficGraph::Edge>>{{0, {1, 9}}, {1, {2, 5}}});
  const Assignment map = legal_map(graph, host, std::vector<std::int32_t>{4, 5, 5});
  EXPECT_EQ(map, Assignment::of_slots({4, 5, 6}, 8));
}

TEST(Bisection, IsAMapOfEveryNetworkAndBeatsTheOrderOfShuffledRanks) {
  Random random(9);
  for (const TopologyPtr& network : small_networks()) {
    const MappingHost host = with_uneven_slots(network, random);
    const std::int32_t ranks = std::max(2, host.size() - 3);
    std::vector<Rank> shuffled;
    for (std::int32_t rank = 0; rank < ranks; ++rank) shuffled.push_back(Rank{rank});
    for (std::size_t at = shuffled.size(); at > 1; --at) std::swap(shuffled[at - 1], shuffled[random.below(at)]);
    TrafficBuilder builder = *TrafficBuilder::make(ranks);
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      ASSERT_TRUE(builder.add(Rank{rank}, Rank{(rank + 1) % ranks}, 100, 1).ok());
    const Traffic traffic = (*std::move(builder).build()).renumbered(shuffled);
    const TrafficGraph graph = TrafficGraph::of(traffic);
    const MappingProblem problem{traffic, graph, host, {}};
    const std::unique_ptr<Partitioner> greedy = greedy_partitioner();
    const Assignment map = bisect(problem, *greedy, {}, {});
    std::vector<std::int32_t> slots(map.slot_of_rank().begin(), map.slot_of_rank().end());
    std::sort(slots.begin(), slots.end());
    ASSERT_EQ(std::unique(slots.begin(), slots.end()), slots.end()) << network->name();
    EXPECT_EQ(map, bisect(problem, *greedy, {}, {}));
    if (ranks > 8 && network->nodes() > 1) {
      EXPECT_LT(2 * hop_bytes(graph, host, map),
                hop_bytes(graph, host, Assignment::identity(ranks, host.size())) * 3 / 2)
          << network->name();
    }
    Tools stopped;
    stopped.stop = [] { return true; };
    EXPECT_EQ(bisect(problem, *greedy, {}, stopped).ranks(), ranks);
  }
}

// Without terminals, or with terminals of the wrong sign, halves lie next to the wrong neighbours.
TEST(Bisection, TerminalsBringNeighboursTogether) {
  const Traffic traffic = traffic_of(*GridPattern::parse("16mx16m:5"));
  const TrafficGraph graph = TrafficGraph::of(traffic);
  const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("16x16")), Slots(256, 1));
  const MappingProblem problem{traffic, graph, host, {}};
  const std::unique_ptr<Partitioner> greedy = greedy_partitioner();
  EXPECT_LT(hop_bytes(graph, host, bisect(problem, *greedy, {}, {})), 2 * traffic.bytes());
}

TEST(WithinNodes, PairsShareACacheAndQuartersAPackage) {
  // 2 nodes of 8 slots: packages of 4, caches of 2. Heavy pairs are 4 apart, light ones 2 apart.
  const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("2m")), Slots(2, 8));
  std::vector<std::pair<std::int32_t, TrafficGraph::Edge>> pairs;
  for (std::int32_t node = 0; node < 2; ++node)
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      pairs.push_back({8 * node + rank, {8 * node + rank + 4, 100}});
      if (rank < 2) pairs.push_back({8 * node + rank, {8 * node + rank + 2, 10}});
    }
  const TrafficGraph graph = TrafficGraph::of_pairs(16, pairs);
  const std::vector<Level> levels = {{"package", 4}, {"cache", 2}};
  const Assignment start = Assignment::identity(16, 16);
  EXPECT_EQ(bytes_across(graph, host, start, levels), (std::vector<std::int64_t>{800, 840}));
  const Assignment placed = place_within_nodes(graph, host, start, levels, 1, {});
  EXPECT_EQ(bytes_across(graph, host, placed, levels), (std::vector<std::int64_t>{0, 40}));
  for (std::int32_t rank = 0; rank < 16; ++rank) EXPECT_EQ(host.node(placed.slot(rank)), rank / 8);
}

TEST(WithinNodes, IsNeverWorseAndKeepsTheTakenSlots) {
  Random random(4);
  const MappingHost host =
      *MappingHost::make(std::make_shared<Torus>(*Shape::parse("3")), *Slots::of_nodes({7, 0, 12}));
  const std::vector<Level> levels = {{"package", 6}, {"cache", 2}};
  for (int round = 0; round < 20; ++round) {
    const TrafficGraph graph = graph_for_cuts(16, random);
    std::vector<std::int32_t> slots(19);
    std::iota(slots.begin(), slots.end(), 0);
    for (std::size_t at = slots.size(); at > 1; --at) std::swap(slots[at - 1], slots[random.below(at)]);
    slots.resize(16);
    const Assignment start = Assignment::of_slots(slots, 19);
    const Assignment placed = place_within_nodes(graph, host, start, levels, 2, {});
    EXPECT_LE(bytes_across(graph, host, placed, levels), bytes_across(graph, host, start, levels));
    for (std::int32_t slot = 0; slot < 19; ++slot) EXPECT_EQ(placed.rank_in(slot) < 0, start.rank_in(slot) < 0);
    for (std::int32_t rank = 0; rank < 16; ++rank) EXPECT_EQ(host.node(placed.slot(rank)), host.node(start.slot(rank)));
  }
}

} // namespace
} // namespace kumihimo::mapping
