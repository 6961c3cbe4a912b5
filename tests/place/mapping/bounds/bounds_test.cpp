#include "../networks.hpp"
#include "../patterns.hpp"
#include "mapping/bounds/bounds.hpp"
#include "mapping/bounds/cuts.hpp"
#include "mapping/bounds/near_slots.hpp"
#include "mapping/bounds/parity.hpp"
#include "mapping/bounds/star.hpp"
#include "mapping/bounds/symmetry.hpp"
#include "mapping/bounds/uniform_flow.hpp"
#include "mapping/objective/hop_bytes.hpp"
#include "mapping/objective/measures.hpp"
#include "topology/torus.hpp"
#include "traffic/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

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
void try_all(const Traffic& traffic, const MappingHost& host, std::vector<std::int32_t>& slots, Optimum& optimum) {
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
Optimum optimum_of(const Traffic& traffic, const MappingHost& host) {
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

Renumbering any_renumbering(std::int32_t ranks, Random& random) {
  Renumbering all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t at = all.size(); at > 1; --at) std::swap(all[at - 1], all[random.below(at)]);
  return all;
}

// Those that hop_bounds leaves out where others are higher, each alone.
std::vector<HopBound> single_bounds(const TrafficGraph& graph, const MappingHost& host, Random& random) {
  std::vector<HopBound> bounds;
  const auto bytes = static_cast<double>(graph.bytes());
  const std::vector<std::int64_t> within = slots_within(host);
  for (const int rounds : {0, 30})
    bounds.push_back({"star", static_cast<double>(star_bound(graph, within, rounds, Tools{})) / bytes, ""});
  if (is_bipartite(host)) {
    const CyclePacking packing = pack_odd_cycles(graph, many_terms, Tools{});
    const std::int64_t rest = star_bound(packing.rest, within, 30, Tools{});
    bounds.push_back({"parity", static_cast<double>(packing.hop_bytes + rest) / bytes, ""});
  }
  FlowLimits limits;
  limits.terms = many_terms;
  // Any renumbering at all keeps the bound valid.
  for (const std::vector<Renumbering>& renumberings :
       {std::vector<Renumbering>{}, std::vector<Renumbering>{any_renumbering(graph.ranks(), random)}}) {
    const double flow = uniform_flow(symmetric_part(graph, renumberings), limits, Tools{});
    const std::vector<CutFamily> families = cut_families(host, graph.ranks());
    bounds.push_back({"cuts", fewest_hop_bytes(families, flow, graph.ranks(), 1) / bytes, ""});
  }
  return bounds;
}

TEST(Bounds, AreAtMostTheOptimum) {
  Random random(3);
  int tight = 0, cases = 0;
  for (const TopologyPtr& network : tiny_networks())
    for (int trial = 0; trial < 14; ++trial) {
      const MappingHost host = *MappingHost::make(network, some_slots(network->nodes(), trial % 2 == 0, random));
      const std::int32_t most = std::min(host.size(), host.size() > 7 ? 4 : host.size() > 6 ? 5 : 6);
      const std::int32_t ranks =
          trial < 2 ? most : 2 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(most - 1)));
      const Traffic traffic = sparse_traffic(ranks, random);
      const TrafficGraph graph = TrafficGraph::of(traffic);
      const MappingProblem problem{traffic, graph, host, {}};
      const Optimum optimum = optimum_of(traffic, host);
      const std::vector<HopBound> bounds = hop_bounds(problem, {}, many_terms, Tools{});
      ASSERT_FALSE(bounds.empty());
      EXPECT_TRUE(std::any_of(bounds.begin(), bounds.end(), [](const HopBound& b) { return b.name == "exhaustive"; }));
      for (const HopBound& bound : single_bounds(graph, host, random))
        EXPECT_LE(bound.average_hops, optimum.average_hops)
            << network->name() << ", " << ranks << " ranks: " << bound.name;
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
      const std::vector<LinkBound> links = link_bounds(problem, bounds.front().average_hops, 20'000'000, Tools{});
      ASSERT_FALSE(links.empty());
      for (const LinkBound& bound : links)
        EXPECT_LE(bound.bytes, optimum.link_bytes) << network->name() << ", " << ranks << " ranks: " << bound.name;
      ++cases;
    }
  EXPECT_GT(tight, cases);
}

// Weighed further than needed, so that the rounding of the bytes counts.
TEST(Bounds, OfAWeighedGraphAreOfTheTraffic) {
  Random random(9);
  int useful = 0, too_high = 0;
  for (const TopologyPtr& network : tiny_networks())
    for (int trial = 0; trial < 6; ++trial) {
      const MappingHost host = *MappingHost::make(network, some_slots(network->nodes(), trial % 2 == 0, random));
      const Traffic traffic = sparse_traffic(4, random);
      TrafficGraph graph = TrafficGraph::of(traffic);
      for (TrafficGraph::Edge& edge : graph.edges) edge.bytes = std::max<std::int64_t>(1, edge.bytes >> (2 + trial));
      const MappingProblem problem{traffic, graph, host, {}};
      const Optimum optimum = optimum_of(traffic, host);
      const HopBound best = hop_bounds(problem, {}, many_terms, Tools{}).front();
      EXPECT_LE(best.average_hops, optimum.average_hops) << network->name() << ": " << best.name;
      useful += best.average_hops > 0;
      for (const LinkBound& bound : link_bounds(problem, best.average_hops, many_terms, Tools{}))
        EXPECT_LE(bound.bytes, optimum.link_bytes) << network->name() << ": " << bound.name;
      std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
      std::vector<std::int32_t> slots(static_cast<std::size_t>(host.size()));
      std::iota(slots.begin(), slots.end(), 0);
      do
        fewest = std::min(
            fewest, hop_bytes(graph, host, Assignment::of_slots({slots.begin(), slots.begin() + 4}, host.size())));
      while (std::next_permutation(slots.begin(), slots.end()));
      too_high += static_cast<double>(fewest) / static_cast<double>(graph.bytes()) > optimum.average_hops;
    }
  EXPECT_GT(useful, 10);
  EXPECT_GT(too_high, 10); // averages of the weighed graph itself are no bounds
}

TEST(Bounds, OfLinksDoNotOverflow) {
  const TopologyPtr network = std::make_shared<Torus>(*Shape::parse("4"));
  const MappingHost host = *MappingHost::make(network, Slots(4, 1));
  const Traffic traffic = traffic_of(*GridPattern::parse("4:3"));
  const TrafficGraph graph = TrafficGraph::of(traffic);
  const std::vector<LinkBound> bounds = link_bounds({traffic, graph, host, {}}, 1e18, many_terms, Tools{});
  EXPECT_EQ(bounds.front().name, "links");
  EXPECT_EQ(bounds.front().bytes, (std::int64_t{1} << 62) / host.network->links());
}

TEST(Bounds, OfLinksWithoutCutsWhenStopped) {
  const TopologyPtr network = std::make_shared<Torus>(*Shape::parse("8x8"));
  const MappingHost host = *MappingHost::make(network, Slots(64, 1));
  const Traffic traffic = patterns::ft(64);
  const TrafficGraph graph = TrafficGraph::of(traffic);
  for (const bool stopped : {false, true}) {
    Tools tools;
    tools.stop = [&] { return stopped; };
    const std::vector<LinkBound> bounds = link_bounds({traffic, graph, host, {}}, 1, many_terms, tools);
    EXPECT_EQ(std::any_of(bounds.begin(), bounds.end(), [](const LinkBound& b) { return b.name == "cut"; }), !stopped);
  }
}

// Every mask leaves all edges of these graphs as they are but those of the last rank: each is looked at in full.
TEST(Symmetries, OfMasksEndWithTheirTermsOrAStop) {
  constexpr std::int32_t ranks = 1024;
  std::vector<std::pair<std::int32_t, TrafficGraph::Edge>> pairs;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    for (std::int32_t bit = 1; bit < ranks; bit *= 2)
      if ((rank & bit) == 0) pairs.push_back({rank, {rank | bit, 8}});
  const auto count = [](const TrafficGraph& graph, std::int64_t terms, int stop_after, int& asked) {
    Tools tools;
    asked = 0;
    tools.stop = [&] { return ++asked > stop_after; };
    return symmetries_of_numbers(graph, {}, terms, tools).size();
  };
  const TrafficGraph cube = TrafficGraph::of_pairs(ranks, pairs);
  const auto edges = static_cast<std::int64_t>(cube.edges.size());
  int asked = 0;
  const std::size_t all = count(cube, many_terms, ranks, asked);
  EXPECT_GE(all, 10U);
  EXPECT_EQ(count(cube, 2 * edges, ranks, asked), all - 8);
  EXPECT_EQ(count(cube, many_terms, 0, asked), 0U);
  pairs.back().second.bytes = 9;
  const TrafficGraph nearly = TrafficGraph::of_pairs(ranks, pairs);
  count(nearly, 5 * edges, ranks, asked);
  EXPECT_LT(asked, 16); // masks
  count(nearly, many_terms, 3, asked);
  EXPECT_LE(asked, 5);
}

struct KnownCase {
  Traffic traffic;
  const char* shape;
  std::int32_t slots_a_node;
  std::optional<Shape> lattice; // of the ranks in row-major order
  double least, most;           // the bound; most: average hops of a known placement
};

std::vector<HopBound> bounds_of(const KnownCase& c, std::int64_t terms = many_terms) {
  const TopologyPtr network = std::make_shared<Torus>(*Shape::parse(c.shape));
  const MappingHost host = *MappingHost::make(network, Slots(network->nodes(), c.slots_a_node));
  const TrafficGraph graph = TrafficGraph::of(c.traffic);
  std::vector<Lattice> lattices;
  if (c.lattice) {
    std::vector<std::int32_t> places(static_cast<std::size_t>(graph.ranks()));
    std::iota(places.begin(), places.end(), 0);
    lattices.push_back({*c.lattice, places, {}, 1});
  }
  return hop_bounds({c.traffic, graph, host, {}}, lattices, terms, Tools{});
}

TEST(Bounds, ReachKnownValues) {
  using namespace patterns;
  const Traffic cube = halo({16, 16, 16}, true);
  const Shape shape16 = *Shape::parse("16x16x16");
  const std::vector<KnownCase> cases = {
      {shuffled(halo({32, 32}, false), 1), "32x32", 1, {}, 1, 1},
      {halo({16, 16, 16}, false), "16x16x16", 1, {}, 1, 1},
      {cube, "16x16x16", 1, shape16, 1.0306, 1.031},
      {cube, "8x8x64", 1, shape16, 1.70, 2.101},
      {cube, "48x6x15", 1, shape16, 1.45, 1.9},
      {cube, "7x7x7x2x3x2", 1, shape16, 1.020, 1.8},
      {lu(1024, 102), "8x8x16", 1, {}, 1, 1.0162},
      {bt(1024, 162), "32x32", 1, {}, 1.3333, 1.33334},
      {bt(1024, 162), "8x8x16", 1, {}, 1.3333, 1.4142},
      {ft(1024), "32x32", 1, {}, 8.25806, 8.25807},
      {ft(1024), "8x8x16", 1, {}, 4.12903, 4.2581},
      {cg(1024, 75000), "32x32", 1, {}, 2.3, 3.74},
      {mg(1024, 256), "8x8x16", 1, {}, 1.0017, 1.0024},
      {mg(1024, 256), "32x32", 1, *Shape::parse("16x8x8"), 1.7, 2.39},
      {bruck(4096), "16x16x16", 1, {}, 1.199, 1.4926},
  };
  for (const KnownCase& c : cases) {
    const std::vector<HopBound> bounds = bounds_of(c);
    EXPECT_GE(bounds.front().average_hops, c.least) << c.shape << ", " << c.traffic.flows() << " flows";
    EXPECT_LE(bounds.front().average_hops, c.most) << c.shape << ", " << c.traffic.flows() << " flows";
  }
}

// Reached exactly, so that a search knows that it is done.
TEST(Bounds, AreExactWhereTheRowMajorMapIsOptimal) {
  using namespace patterns;
  for (const KnownCase& c : std::vector<KnownCase>{{halo({8, 8, 16}, false), "8x8x16", 1, {}, 0, 0},
                                                   {lu(1024, 102), "32x32", 1, {}, 0, 0},
                                                   {bt(1024, 162), "32x32", 1, {}, 0, 0},
                                                   {ft(1024), "32x32", 1, {}, 0, 0}}) {
    const TopologyPtr network = std::make_shared<Torus>(*Shape::parse(c.shape));
    const MappingHost host = *MappingHost::make(network, Slots(network->nodes(), 1));
    const Measures measures = measure(c.traffic, host, Assignment::identity(c.traffic.ranks(), host.size()));
    EXPECT_EQ(bounds_of(c).front().average_hops, measures.average_hops) << c.shape;
  }
}

TEST(Bounds, OfAStopOrNoTermsIsTheStarAlone) {
  const KnownCase c{patterns::ft(1024), "32x32", 1, {}, 0, 0};
  for (const bool stopped : {true, false}) {
    const TopologyPtr network = std::make_shared<Torus>(*Shape::parse(c.shape));
    const MappingHost host = *MappingHost::make(network, Slots(network->nodes(), 1));
    const TrafficGraph graph = TrafficGraph::of(c.traffic);
    Tools tools;
    tools.stop = [&] { return stopped; };
    const std::vector<HopBound> bounds = hop_bounds({c.traffic, graph, host, {}}, {}, stopped ? many_terms : 0, tools);
    ASSERT_EQ(bounds.size(), 1u);
    EXPECT_EQ(bounds.front().name, "star");
  }
}

TEST(SlotsWithin, CountsTheMost) {
  Random random(11);
  for (const TopologyPtr& network : small_networks()) {
    for (const bool even : {true, false}) {
      const MappingHost host =
          *MappingHost::make(network, even ? Slots(network->nodes(), 2) : some_slots(network->nodes(), false, random));
      const std::vector<std::int64_t> within = slots_within(host);
      ASSERT_EQ(within.back(), host.size() - 1);
      for (std::int32_t from = 0; from < host.size(); ++from)
        for (std::size_t hops = 0; hops < within.size(); ++hops) {
          std::int64_t near = -1;
          for (std::int32_t to = 0; to < host.size(); ++to) {
            const NodeId a{host.node(from)}, b{host.node(to)};
            const std::int32_t apart = a == b ? 0 : std::min(network->distance(a, b), network->distance(b, a));
            near += apart <= static_cast<std::int32_t>(hops);
          }
          ASSERT_LE(near, within[hops]) << network->name() << " " << hops;
        }
    }
  }
}

// Distances are at least, on axes and trees exactly, what the families of cuts say: two ranks of one byte.
TEST(CutFamilies, BoundTheDistanceOfTwoRanks) {
  for (const TopologyPtr& network : small_networks()) {
    if (network->nodes() < 2) continue;
    const MappingHost host = *MappingHost::make(network, Slots(network->nodes(), 1));
    double mean = 0;
    for (std::int32_t a = 0; a < host.size(); ++a)
      for (std::int32_t b = 0; b < a; ++b) mean += host.metric(a, b);
    // A complete graph of one byte a pair on all nodes: flow 1, and each cut has exactly s (n - s) bytes.
    double bound = fewest_hop_bytes(cut_families(host, host.size()), 1, host.size(), 1);
    EXPECT_LE(bound, mean + 1e-6) << network->name();
    if (host.metric.has_axes()) {
      EXPECT_NEAR(bound, mean, 1e-6) << network->name();
    }
  }
}

} // namespace
} // namespace kumihimo::mapping
