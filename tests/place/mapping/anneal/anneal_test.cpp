#include "../networks.hpp"
#include "../random_inputs.hpp"
#include "mapping/anneal/annealing.hpp"
#include "mapping/anneal/chain.hpp"
#include "mapping/anneal/rank_costs.hpp"
#include "mapping/anneal/relief.hpp"
#include "mapping/objective/hop_bytes.hpp"
#include "mapping/objective/link_loads.hpp"
#include "traffic/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

namespace kumihimo::mapping {
namespace {

Assignment shuffled_map(std::int32_t ranks, std::int32_t slots, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> all(static_cast<std::size_t>(slots));
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t at = all.size(); at > 1; --at) std::swap(all[at - 1], all[random.below(at)]);
  all.resize(static_cast<std::size_t>(ranks));
  return Assignment::of_slots(all, slots);
}

const std::function<bool()> never = [] { return false; };

// A forgotten partner, a wrong sign or a table that is not updated shows as a difference here.
TEST(Chain, CountsHopBytesExactlyOnEveryNetwork) {
  Random random(5);
  for (const TopologyPtr& network : small_networks()) {
    const MappingHost host = with_uneven_slots(network, random);
    const std::int32_t ranks = std::max(2, host.size() - 2);
    const Traffic traffic = any_traffic(ranks, random);
    const TrafficGraph graph = TrafficGraph::of(traffic);
    const MappingProblem problem{traffic, graph, host, {}};
    const Nearby nearby(host);
    const std::unique_ptr<Chain> chain = Chain::make(problem, nearby, shuffled_map(ranks, host.size(), 3), 8);
    chain->heat(0.5);
    chain->cool(0, 0.5, 200'000, never);
    ASSERT_EQ(chain->hop_bytes(), hop_bytes(graph, host, chain->map())) << network->name();
    const std::int64_t before = chain->hop_bytes();
    chain->descend(40'000'000, never);
    ASSERT_EQ(chain->hop_bytes(), hop_bytes(graph, host, chain->map())) << network->name();
    EXPECT_LE(chain->hop_bytes(), before);
    // No exchange gains any more.
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      for (std::int32_t slot = 0; slot < host.size(); ++slot) {
        Assignment other = chain->map();
        other.exchange(rank, slot);
        ASSERT_GE(hop_bytes(graph, host, other), chain->hop_bytes()) << network->name();
      }
  }
}

// All talk to one rank, which has as many slots next to a partner as there are, and costs as many terms on each.
TEST(Chain, DescendsFromAHubWithinItsTerms) {
  constexpr std::int32_t nodes = 300, each = 32, ranks = nodes * each;
  const auto network = std::make_shared<FatTree>(*FatTree::make({{nodes, 1, 1}}, nodes));
  const MappingHost host = *MappingHost::make(network, Slots(nodes, each));
  TrafficBuilder builder = *TrafficBuilder::make(ranks);
  for (std::int32_t rank = 1; rank < ranks; ++rank) ASSERT_TRUE(builder.add(Rank{rank}, Rank{0}, 1 + rank % 7, 1));
  const Traffic traffic = *std::move(builder).build();
  const TrafficGraph graph = TrafficGraph::of(traffic);
  const MappingProblem problem{traffic, graph, host, {}};
  const Nearby nearby(host);
  const std::unique_ptr<Chain> chain = Chain::make(problem, nearby, Assignment::identity(ranks, host.size()), 1);
  const std::int64_t before = chain->hop_bytes();
  std::int64_t asked = 0;
  chain->descend(1'000'000, [&] { return ++asked > 100'000'000; });
  EXPECT_LE(asked, 1'000'000); // each question is a slot tried
  EXPECT_LE(chain->hop_bytes(), before);
}

TEST(RankCosts, TablesAndSumsAgree) {
  Random random(6);
  const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("4x5mx2")), Slots(40, 1));
  const Traffic traffic = any_traffic(38, random);
  const TrafficGraph graph = TrafficGraph::of(traffic);
  Assignment map = shuffled_map(38, 40, 2);
  AxisCosts<3> tables(graph, host, map);
  for (int step = 0; step < 50; ++step) {
    const auto rank = static_cast<std::int32_t>(random.below(38)), slot = static_cast<std::int32_t>(random.below(40));
    const std::int32_t old = map.slot(rank), other = map.rank_in(slot);
    map.exchange(rank, slot);
    tables.moved(rank, old, slot);
    if (other >= 0 && other != rank) tables.moved(other, slot, old);
    host.metric.visit([&](const auto& hops) {
      const PartnerCosts sums(graph, host, map, hops);
      for (std::int32_t each = 0; each < 38; ++each)
        for (std::int32_t node = 0; node < 40; ++node) ASSERT_EQ(tables.of(each, node), sums.of(each, node));
    });
  }
}

TEST(Annealing, FindsTheOptimumOfSixRanks) {
  Random random(12);
  const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("2x3m")), Slots(6, 1));
  for (int round = 0; round < 5; ++round) {
    const Traffic traffic = any_traffic(6, random);
    const TrafficGraph graph = TrafficGraph::of(traffic);
    std::vector<std::int32_t> slots = {0, 1, 2, 3, 4, 5};
    std::int64_t least = hop_bytes(graph, host, Assignment::of_slots(slots, 6));
    while (std::next_permutation(slots.begin(), slots.end()))
      least = std::min(least, hop_bytes(graph, host, Assignment::of_slots(slots, 6)));
    Assignment map = Assignment::identity(6, 6);
    anneal(map, {traffic, graph, host, {}}, {400'000, 2, 0.3}, 1, {});
    EXPECT_EQ(hop_bytes(graph, host, map), least);
  }
}

struct HaloOnTorus {
  Traffic traffic = traffic_of(*GridPattern::parse("8x8:5"));
  TrafficGraph graph = TrafficGraph::of(traffic);
  MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("8x8")), Slots(64, 1));
  MappingProblem problem{traffic, graph, host, {}};
};

TEST(Annealing, IsTheSameOnAnyNumberOfThreads) {
  const HaloOnTorus halo;
  const Assignment start = shuffled_map(64, 64, 5);
  Assignment one = start, other = start;
  anneal(one, halo.problem, {1'000'000, 4, 0.3}, 3, {});
  Tools backwards; // parts in another order, and at once
  backwards.parallel = [](int parts, const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int part = parts - 1; part >= 0; --part) threads.emplace_back([&work, part] { work(part); });
    for (std::thread& thread : threads) thread.join();
  };
  anneal(other, halo.problem, {1'000'000, 4, 0.3}, 3, backwards);
  EXPECT_EQ(one, other);
  EXPECT_LT(hop_bytes(halo.graph, halo.host, one) * 2, hop_bytes(halo.graph, halo.host, start));
}

TEST(Annealing, NeverMakesAMapWorseAndStops) {
  const HaloOnTorus halo;
  Assignment map = Assignment::identity(64, 64); // the optimum
  anneal(map, halo.problem, {100'000, 2, 0.9}, 3, {});
  EXPECT_EQ(hop_bytes(halo.graph, halo.host, map), halo.traffic.bytes());
  std::atomic<int> polls{0};
  Tools stopping;
  stopping.stop = [&] { return ++polls > 20; };
  Assignment other = shuffled_map(64, 64, 7);
  anneal(other, halo.problem, {std::int64_t{1} << 60, 2, 0.3}, 3, stopping);
  EXPECT_LE(hop_bytes(halo.graph, halo.host, other), hop_bytes(halo.graph, halo.host, shuffled_map(64, 64, 7)));
}

TEST(Annealing, ACoolStartKeepsItsStructure) {
  // A ring of 64 on a row of 64 nodes that is no ring: 63 short ways and a long one. Folded it would be as good.
  const Traffic traffic = traffic_of(*GridPattern::parse("64:3"));
  const TrafficGraph graph = TrafficGraph::of(traffic);
  const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("64m")), Slots(64, 1));
  Assignment map = Assignment::identity(64, 64);
  anneal(map, {traffic, graph, host, {}}, {1'000'000, 2, 0.02}, 3, {});
  EXPECT_EQ(hop_bytes(graph, host, map), traffic.bytes() / 64 * 126);
}

TEST(Relief, ReachesTheCapWithFewHopBytes) {
  const HaloOnTorus halo;
  Assignment map = shuffled_map(64, 64, 9);
  anneal(map, halo.problem, {60'000, 1, 0.3}, 3, {});
  const std::int64_t before = LinkLoads(halo.traffic, halo.host, map).max(), cap = before * 3 / 4;
  ASSERT_TRUE(relieve(map, halo.problem, cap, {2'000'000, 2, 0.05}, 2, {}));
  const std::vector<std::int64_t> loads = link_loads(halo.traffic, halo.host, map);
  EXPECT_LE(*std::max_element(loads.begin(), loads.end()), cap);
  Assignment impossible = map;
  EXPECT_FALSE(relieve(impossible, halo.problem, 0, {200'000, 2, 0.05}, 2, {}));
  EXPECT_LE(LinkLoads(halo.traffic, halo.host, impossible).max(), LinkLoads(halo.traffic, halo.host, map).max());
}

TEST(Relief, TheLeastLinkLoadIsNoHigherThanBefore) {
  const HaloOnTorus halo;
  const Assignment start = shuffled_map(64, 64, 9);
  Assignment map = start, again = start;
  least_link_load(map, halo.problem, {1'000'000, 2, 0.1}, 1, {});
  least_link_load(again, halo.problem, {1'000'000, 2, 0.1}, 1, {});
  EXPECT_EQ(map, again);
  EXPECT_LT(2 * LinkLoads(halo.traffic, halo.host, map).max(), LinkLoads(halo.traffic, halo.host, start).max());
}

} // namespace
} // namespace kumihimo::mapping
