#include "mapping/bounds/bounds.hpp"

#include "../networks.hpp"
#include "mapping/bounds/cuts.hpp"
#include "mapping/bounds/near_slots.hpp"
#include "mapping/bounds/uniform_flow.hpp"
#include "mapping/objective/hop_bytes.hpp"
#include "mapping/objective/measures.hpp"
#include "topology/torus.hpp"
#include "traffic/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace kumihimo::mapping {
namespace {

constexpr std::int64_t many_terms = 100'000'000;

Traffic sparse_traffic(std::int32_t ranks, Random& random) {
  TrafficBuilder builder = *TrafficBuilder::make(ranks);
  EXPECT_TRUE(builder.add(Rank{0}, Rank{1}, 5, 1).ok());
  const auto any = [&] { return Rank{static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(ranks)))}; };
  const std::uint64_t lines = 1 + random.below(20), largest = random.below(2) == 0 ? 2 : 1000;
  for (std::uint64_t line = 0; line < lines; ++line)
    EXPECT_TRUE(builder.add(any(), any(), static_cast<std::int64_t>(random.below(largest)), 1).ok());
  return *std::move(builder).build();
}

// The least of any numbers over all assignments of ranks to slots: plain recursion.
struct Optimum {
  double average_hops = std::numeric_limits<double>::infinity();
  std::int64_t link_bytes = std::numeric_limits<std::int64_t>::max();
};
void try_all(const Traffic& traffic, const Host& host, std::vector<std::int32_t>& slots, Optimum& optimum) {
  if (static_cast<std::int32_t>(slots.size()) == traffic.ranks()) {
    const Measures measures = measure(traffic, host, Assignment::of_slots(slots, host.size()));
    optimum.average_hops = std::min(optimum.average_hops, measures.average_hops);
    optimum.link_bytes = std::min(optimum.link_bytes, measures.link_bytes_max);
    return;
  }
  for (std::int32_t slot = 0; slot < host.size(); ++slot) {
    if (std::find(slots.begin(), slots.end(), slot) != slots.end()) continue;
    slots.push_back(slot);
    try_all(traffic, host, slots, optimum);
    slots.pop_back();
  }
}
Optimum optimum_of(const Traffic& traffic, const Host& host) {
  Optimum optimum;
  std::vector<std::int32_t> slots;
  try_all(traffic, host, slots, optimum);
  return optimum;
}

bool holds(const HopBound& bound, const Optimum& optimum) { return bound.average_hops <= optimum.average_hops; }

std::vector<TopologyPtr> tiny_networks() {
  std::vector<TopologyPtr> networks;
  for (const char* shape : {"7", "8", "6m", "2x3", "3x3", "2x4m", "4x2", "2x2x2", "3mx2m"})
    networks.push_back(std::make_shared<Torus>(*Shape::parse(shape)));
  networks.push_back(std::make_shared<FatTree>(*FatTree::make({{2, 1}, {2, 2}, {2, 1}}, 7)));
  networks.push_back(std::make_shared<RouterTorus>(*Shape::parse("3"), 2));
  networks.push_back(std::make_shared<Dragonfly>(*Dragonfly::make({3, 2, 0, 1, 1, 1}, 6)));
  return networks;
}

// Slots of up to three a node and up to seven in all, with holes.
Slots some_slots(std::int32_t nodes, bool even, Random& random) {
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(nodes), even ? 1 : 0);
  while (!even && std::accumulate(sizes.begin(), sizes.end(), 0) < 6) ++sizes[random.below(sizes.size())];
  return *Slots::of_nodes(sizes);
}

TEST(Bounds, AreAtMostTheOptimum) {
  Random random(3);
  int tight = 0, cases = 0;
  for (const TopologyPtr& network : tiny_networks())
    for (int trial = 0; trial < 14; ++trial) {
      const Host host = *Host::make(network, some_slots(network->nodes(), trial % 2 == 0, random));
      const std::int32_t most = std::min(host.size(), host.size() > 7 ? 4 : host.size() > 6 ? 5 : 6);
      const std::int32_t ranks = trial < 2 ? most : 2 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(most - 1)));
      const Traffic traffic = sparse_traffic(ranks, random);
      const Graph graph = Graph::of(traffic);
      const Problem problem{traffic, graph, host, {}};
      const Optimum optimum = optimum_of(traffic, host);
      const std::vector<HopBound> bounds = hop_bounds(problem, {}, many_terms, Tools{});
      ASSERT_FALSE(bounds.empty());
      for (const HopBound& bound : bounds) {
        EXPECT_TRUE(holds(bound, optimum)) << network->name() << ", " << ranks << " ranks: " << bound.name << " "
                                           << bound.average_hops << " > " << optimum.average_hops;
        // The same comparison catches a bound that is too high by one hop-byte.
        if (bound.average_hops == optimum.average_hops) {
          ++tight;
          const HopBound wrong{"", bound.average_hops + 1 / static_cast<double>(graph.bytes()), ""};
          EXPECT_FALSE(holds(wrong, optimum));
        }
      }
      EXPECT_TRUE(std::is_sorted(bounds.rbegin(), bounds.rend(),
                                 [](const auto& a, const auto& b) { return a.average_hops < b.average_hops; }));
      const std::vector<LinkBound> links = link_bounds(problem, bounds.front().average_hops);
      ASSERT_FALSE(links.empty());
      for (const LinkBound& bound : links)
        EXPECT_LE(bound.bytes, optimum.link_bytes) << network->name() << ", " << ranks << " ranks: " << bound.name;
      ++cases;
    }
  EXPECT_GT(tight, cases);
}

} // namespace
} // namespace kumihimo::mapping
