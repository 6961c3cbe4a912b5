#include "../networks.hpp"
#include "../random_inputs.hpp"
#include "mapping/objective/hop_bytes.hpp"
#include "mapping/objective/link_loads.hpp"
#include "mapping/objective/measures.hpp"
#include "mapping/search/tools.hpp"
#include "topology/torus.hpp"
#include "traffic/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {
namespace {

Assignment random_assignment(std::int32_t ranks, std::int32_t slots, Random& random) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(slots));
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t at = all.size(); at > 1; --at) std::swap(all[at - 1], all[random.below(at)]);
  all.resize(static_cast<std::size_t>(ranks));
  return Assignment::of_slots(all, slots);
}

TEST(TrafficGraph, SumsBothWaysAndLeavesOutMessagesWithoutBytes) {
  TrafficBuilder builder = *TrafficBuilder::make(4);
  ASSERT_TRUE(builder.add(Rank{2}, Rank{0}, 5, 1).ok());
  ASSERT_TRUE(builder.add(Rank{0}, Rank{2}, 7, 1).ok());
  ASSERT_TRUE(builder.add(Rank{1}, Rank{0}, 1, 1).ok());
  ASSERT_TRUE(builder.add(Rank{3}, Rank{0}, 0, 9).ok());
  const TrafficGraph graph = TrafficGraph::of(*std::move(builder).build());
  EXPECT_EQ(graph.first, (std::vector<std::int64_t>{0, 2, 3, 4, 4}));
  EXPECT_EQ(graph.edges, (std::vector<TrafficGraph::Edge>{{1, 1}, {2, 12}, {0, 1}, {0, 12}}));
  EXPECT_EQ(graph.bytes(), 13);
  const std::vector<std::int32_t> two = {2, 0};
  EXPECT_EQ(graph.part(two),
            TrafficGraph::of_pairs(2, std::vector<std::pair<std::int32_t, TrafficGraph::Edge>>{{1, {0, 12}}}));
}

TEST(Metric, IsTheNetworksDistance) {
  for (const TopologyPtr& network : small_networks()) {
    const Metric metric = Metric::of(*network, Slots(network->nodes(), 1));
    for (std::int32_t a = 0; a < network->nodes(); ++a)
      for (std::int32_t b = 0; b < network->nodes(); ++b)
        ASSERT_EQ(metric(a, b),
                  std::max(network->distance(NodeId{a}, NodeId{b}), network->distance(NodeId{b}, NodeId{a})))
            << network->name() << ": " << a << " to " << b;
  }
}

std::int64_t excess_of(const std::vector<std::int64_t>& loads, std::int64_t cap) {
  std::int64_t sum = 0;
  for (const std::int64_t load : loads) sum += std::max<std::int64_t>(0, load - cap);
  return sum;
}

TEST(Objectives, IncrementalFormsAreThePlainOnes) {
  Random random(7);
  for (const TopologyPtr& network : small_networks())
    for (const bool even : {true, false}) {
      std::vector<std::int32_t> sizes(static_cast<std::size_t>(network->nodes()), 2);
      if (!even)
        for (std::int32_t& size : sizes) size = static_cast<std::int32_t>(random.below(4));
      if (std::accumulate(sizes.begin(), sizes.end(), 0) < 4) sizes[0] = 4;
      const MappingHost host = *MappingHost::make(network, *Slots::of_nodes(sizes));
      const std::int32_t ranks = std::max(2, host.size() - 2);
      const Traffic traffic = any_traffic(ranks, random);
      const TrafficGraph graph = TrafficGraph::of(traffic);
      Assignment map = random_assignment(ranks, host.size(), random);
      LinkLoads loads(traffic, host, map);
      std::int64_t excess = excess_of(link_loads(traffic, host, map), 300);
      for (int step = 0; step < 200; ++step) {
        const auto rank = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(ranks)));
        const auto slot = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(host.size())));
        const LinkLoads::Change change = loads.change(map, rank, slot);
        excess += loads.excess_added(change, 300);
        loads.apply(change);
        map.exchange(rank, slot);
        if (step % 20 != 0) continue;
        const std::vector<std::int64_t> plain = link_loads(traffic, host, map);
        for (std::size_t link = 0; link < plain.size(); ++link)
          ASSERT_EQ(loads.on(LinkId{static_cast<std::int64_t>(link)}), plain[link]) << network->name();
        ASSERT_EQ(loads.max(), plain.empty() ? 0 : *std::max_element(plain.begin(), plain.end()));
        ASSERT_EQ(excess, excess_of(plain, 300));
      }
      const Measures measures = measure(traffic, host, map);
      EXPECT_EQ(measures.link_bytes_max, loads.max());
      EXPECT_EQ(measures.off_node_bytes, off_node_bytes(graph, host, map));
      // Where ways there and back are equally long, the search's hop-bytes are the users'.
      if (dynamic_cast<const Torus*>(network.get())) {
        EXPECT_EQ(measures.hop_bytes, static_cast<double>(hop_bytes(graph, host, map)));
      }
      EXPECT_EQ(Assignment::of(map.placement(host.slots)), map);
    }
}

TEST(Objectives, OfAHaloThatLiesOnItsTorus) {
  const Traffic traffic = traffic_of(*GridPattern::parse("4x4:5,face=100"));
  const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("4x4")), Slots(16, 1));
  const Measures measures = measure(traffic, host, Assignment::identity(16, 16));
  EXPECT_EQ(measures, (Measures{1.0, 16 * 4 * 100, 100, 16 * 4 * 100}));
}

TEST(Objectives, TrafficThatWouldOverflowIsWeighed) {
  TrafficBuilder builder = *TrafficBuilder::make(2);
  ASSERT_TRUE(builder.add(Rank{0}, Rank{1}, most_traffic - 1, 1).ok());
  const Traffic traffic = *std::move(builder).build();
  const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("64m")), Slots(64, 1));
  const Weighed weighed = weigh(TrafficGraph::of(traffic), host);
  EXPECT_GT(weighed.halvings, 0);
  EXPECT_GT(hop_bytes(weighed.graph, host, Assignment::of_slots({0, 63}, 64)), 0);
}

TEST(MappingHost, CoresAreTheNearerTheMoreLevelsTheyShare) {
  const std::vector<Level> levels = {{"package", 6}, {"l3", 3}};
  const MappingHost host = MappingHost::of_cores(11, levels);
  EXPECT_EQ(host.size(), 11);
  EXPECT_EQ(host.metric(0, 2), 2);
  EXPECT_EQ(host.metric(2, 3), 4);
  EXPECT_EQ(host.metric(5, 6), 6);
  EXPECT_EQ(host.metric(9, 10), 2);
  EXPECT_EQ(MappingHost::of_cores(3, {}).metric(0, 2), 2);
  EXPECT_EQ(MappingHost::of_cores(1, levels).size(), 1);
}

TEST(MappingHost, RefusesSlotsOfAnotherNetwork) {
  const auto host = MappingHost::make(std::make_shared<Torus>(*Shape::parse("4x4")), Slots(15, 1));
  ASSERT_FALSE(host.ok());
  EXPECT_EQ(host.error().problem, "slots must be given for the 16 nodes of torus 4x4 (got 15)");
}

} // namespace
} // namespace kumihimo::mapping
