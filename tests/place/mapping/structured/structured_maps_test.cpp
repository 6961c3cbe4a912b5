#include "../networks.hpp"
#include "../random_inputs.hpp"
#include "mapping/objective/hop_bytes.hpp"
#include "mapping/objective/measures.hpp"
#include "mapping/structured/digit_moves.hpp"
#include "mapping/structured/lattice_orders.hpp"
#include "mapping/structured/structured_maps.hpp"
#include "traffic/pattern.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {
namespace {

struct StructuredCase {
  StructuredCase(Traffic of, TopologyPtr network, std::int32_t each)
      : traffic(std::move(of)), host(*MappingHost::make(network, Slots(network->nodes(), each))),
        graph(TrafficGraph::of(traffic)) {}
  Traffic traffic;
  MappingHost host;
  TrafficGraph graph;

  std::vector<NamedMap> maps(std::int64_t terms, std::uint64_t seed = 1) const {
    return structured_maps({traffic, graph, host, {}}, recognise(graph), terms, seed, {});
  }
  Measures best(std::int64_t terms) const { return measure(traffic, host, maps(terms).at(0).map); }
};

StructuredCase structured_case(const std::string& pattern, const std::string& torus, std::int32_t each = 1,
                               bool shuffle = true) {
  Traffic traffic = traffic_of(*GridPattern::parse(pattern));
  if (shuffle) traffic = with_other_numbers(traffic, 7);
  return {std::move(traffic), std::make_shared<Torus>(*Shape::parse(torus)), each};
}

TEST(StructuredMaps, EmbedShuffledGridsExactly) {
  for (const auto& [pattern, torus] : std::vector<std::pair<const char*, const char*>>{{"8x8:5", "8x8"},
                                                                                       {"4x6x5:7", "6x5x4"},
                                                                                       {"7x5m:5", "5mx7"},
                                                                                       {"16mx4:5", "4x4x4"},
                                                                                       {"12x12:5", "3mx4x12"},
                                                                                       {"4x3x2x2:9", "2x4x2x3"},
                                                                                       {"21:3", "3x7"},
                                                                                       {"25x4:5", "5x4x5"},
                                                                                       {"28x15:5", "4x3x7x5"},
                                                                                       {"35x8x4:7", "7x8x5x4"}}) {
    const StructuredCase at = structured_case(pattern, torus);
    EXPECT_DOUBLE_EQ(at.best(2'000'000).average_hops, 1) << pattern << " on " << torus;
  }
}

TEST(StructuredMaps, FoldGridsThatDoNotFit) {
  EXPECT_LE(structured_case("32mx32m:5", "8x8x16").best(60'000'000).average_hops, 1.0162);
  EXPECT_LE(structured_case("8x8x8:7", "4x4x32").best(30'000'000).average_hops, 2.01);
  EXPECT_LE(structured_case("12x12:5", "4x4x9").best(10'000'000).average_hops, 1.36);
}

TEST(StructuredMaps, FollowATranslationWhereNoBoxFits) {
  // Layers of 8x8x8 lie 3 planes apart on the axis of 24: 3x5x5 cells for 64 orbits.
  EXPECT_LE(structured_case("8x8x8:7", "24x5x5").best(30'000'000).average_hops, 1.9);
}

TEST(StructuredMaps, CutInJaggedPartsWhereNothingDivides) {
  EXPECT_LE(structured_case("8x8x8:7", "7x9x9").best(20'000'000).average_hops, 1.9);
  EXPECT_LE(structured_case("16x16:5", "17x5x4", 1).best(20'000'000).average_hops, 2.2);
}

// Recursive doubling: a butterfly, which is no grid. Digits of the ranks become coordinates of a torus.
TEST(StructuredMaps, SpreadDigitsOfRanks) {
  TrafficBuilder builder = *TrafficBuilder::make(256);
  for (std::int32_t rank = 0; rank < 256; ++rank)
    for (std::int32_t bit = 1; bit < 256; bit *= 2) ASSERT_TRUE(builder.add(Rank{rank}, Rank{rank ^ bit}, 8, 1).ok());
  const StructuredCase at(*std::move(builder).build(), std::make_shared<Torus>(*Shape::parse("4x4x4x4")), 1);
  EXPECT_DOUBLE_EQ(at.best(3'000'000).average_hops, 1);
}

TEST(StructuredMaps, KeepPartnersOnANode) {
  // Two slots a node: pairs of neighbours share one.
  const StructuredCase at = structured_case("16x8:5", "8x8", 2);
  EXPECT_LE(at.best(5'000'000).average_hops, 0.76);
}

TEST(StructuredMaps, AreMapsOnEveryNetworkAndTheSameForASeed) {
  for (const TopologyPtr& network : small_networks())
    for (const std::int32_t each : {1, 3})
      for (const std::int32_t spare : {0, 2}) {
        const std::int32_t ranks = network->nodes() * each - spare;
        if (ranks < 4) continue;
        const StructuredCase at(with_other_numbers(traffic_of(*GridPattern::parse(fmt::format("{}:3", ranks))), 3),
                                network, each);
        const std::vector<NamedMap> maps = at.maps(300'000);
        const std::vector<NamedMap> again = at.maps(300'000);
        ASSERT_EQ(maps.size(), again.size());
        std::int64_t before = 0;
        for (std::size_t k = 0; k < maps.size(); ++k) {
          EXPECT_EQ(maps[k].map, again[k].map);
          EXPECT_EQ(maps[k].map.ranks(), ranks);
          EXPECT_EQ(Assignment::of(maps[k].map.placement(at.host.slots)), maps[k].map);
          const std::int64_t hops = hop_bytes(at.graph, at.host, maps[k].map);
          EXPECT_GE(hops, before);
          before = hops;
        }
      }
}

TEST(StructuredMaps, StopWhenAsked) {
  const StructuredCase at = structured_case("16x16:9", "8x32");
  Tools tools;
  tools.stop = [] { return true; };
  for (const NamedMap& map :
       structured_maps({at.traffic, at.graph, at.host, {}}, recognise(at.graph), 1'000'000'000, 1, tools))
    EXPECT_EQ(map.map.ranks(), 256);
}

// A table of hops between all coordinates of such an axis would take gigabytes.
TEST(StructuredMaps, PassOverLongAxes) {
  for (const char* shape : {"82944", "2x41472", "2x8192"})
    for (const std::int32_t spare : {0, 1}) {
      const TopologyPtr network = std::make_shared<Torus>(*Shape::parse(shape));
      const StructuredCase at(traffic_of(*GridPattern::parse(fmt::format("{}:3", network->nodes() - spare))), network,
                              1);
      for (const NamedMap& map : at.maps(1'000'000)) EXPECT_EQ(map.map.ranks(), network->nodes() - spare) << shape;
      for (const Box& box : boxes_of(at.host, network->nodes() - spare, 4, {}))
        for (const Axis& axis : box.axes) EXPECT_LE(axis.length, longest_axis) << shape;
    }
  const TopologyPtr network = std::make_shared<Torus>(*Shape::parse("2x8192"));
  EXPECT_TRUE(boxes_of(*MappingHost::make(network, Slots(network->nodes(), 1)), 16384, 4, {}).empty());
  ASSERT_FALSE(boxes_of(*MappingHost::make(network, Slots(network->nodes(), 1)), 8192, 4, {}).empty());
}

// The last plane is empty, so no box of the whole first axis has room, wherever it begins: 216 places to begin.
TEST(Boxes, StopLookingForRoom) {
  const TopologyPtr network = std::make_shared<Torus>(*Shape::parse("64mx64mx64m"));
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(network->nodes()), 1);
  std::fill(sizes.end() - 64 * 64, sizes.end(), 0);
  const MappingHost host = *MappingHost::make(network, *Slots::of_nodes(sizes));
  int asked = 0;
  Tools tools;
  tools.stop = [&] { return ++asked, false; };
  boxes_of(host, 64 * 53 * 47, 4, tools);
  EXPECT_GT(asked, 100);
  EXPECT_LT(asked, 150); // 20 million places
  asked = 0;
  tools.stop = [&] { return ++asked > 5; };
  boxes_of(host, 64 * 53 * 47, 4, tools);
  EXPECT_LT(asked, 10);
}

TEST(DigitMoves, ArePermutations) {
  Box box;
  box.axes = {{12, true}, {4, true}, {3, false}};
  std::vector<std::int32_t> places(144);
  std::iota(places.begin(), places.end(), 0);
  const CoordinatesOfRanks at = coordinates_in(box, places);
  EXPECT_EQ(places_in(box, at), places);
  const std::vector<DigitMove> moves = digit_moves(box);
  EXPECT_GT(moves.size(), 50U);
  for (const DigitMove& move : moves) {
    CoordinatesOfRanks moved = at;
    move.apply_first(at, moved[move.first()]);
    if (move.changes_two()) move.apply_second(at, moved[move.second()]);
    std::vector<std::int32_t> after = places_in(box, moved);
    EXPECT_NE(after, places);
    std::sort(after.begin(), after.end());
    EXPECT_EQ(after, places);
  }
}

TEST(LatticeOrders, FindTheOrderOfAShuffledGrid) {
  for (const auto& [pattern, torus] : {std::pair{"6x4x6:27", "6x4x6"}, {"3x4x4x3:9", "12x12"}, {"12x12:9", "12x12"}}) {
    const Traffic in_order = traffic_of(*GridPattern::parse(pattern)), traffic = with_other_numbers(in_order, 7);
    const TopologyPtr network = std::string(torus) == "6x4x6"
                                    ? TopologyPtr(std::make_shared<Tofu>(*Tofu::make(Tofu::usual({3, 2, 2, 2, 3, 2}))))
                                    : TopologyPtr(std::make_shared<Torus>(*Shape::parse(torus)));
    const MappingHost host = *MappingHost::make(network, Slots(network->nodes(), 1));
    const TrafficGraph graph = TrafficGraph::of(traffic);
    const std::vector<Lattice> lattices = recognise(graph);
    ASSERT_FALSE(lattices.empty());
    const OrderContext context{host.slots, *Shape::parse(torus), {}, traffic.ranks()};
    const std::vector<NamedMap> found = lattice_orders({traffic, graph, host, {}}, lattices, context, 100'000'000, {});
    ASSERT_FALSE(found.empty());
    EXPECT_LE(hop_bytes(graph, host, found[0].map),
              hop_bytes(TrafficGraph::of(in_order), host, Assignment::identity(host.size(), host.size())))
        << pattern;
    EXPECT_TRUE(lattice_orders({traffic, graph, host, {}}, lattices, context, 10, {}).empty());
  }
}

// With one slot a node most names stand for the same order; to build one takes terms and time, too.
TEST(LatticeOrders, EndBeforeAnOrderIsBuilt) {
  const Traffic traffic = traffic_of(*GridPattern::parse("8x6:5"));
  const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("8x6")), Slots(48, 1));
  const TrafficGraph graph = TrafficGraph::of(traffic);
  const std::vector<Lattice> lattices = recognise(graph);
  const OrderContext context{host.slots, *Shape::parse("8x6"), {}, 48};
  OrderContext along_grid = context;
  along_grid.grid = lattices.front().shape;
  const auto names = static_cast<int>(names_of_orders(along_grid).size());
  EXPECT_GT(names, static_cast<int>(simple_orders(along_grid).size()));
  const auto times_asked = [&](std::int64_t terms) {
    int asked = 0;
    Tools tools;
    tools.stop = [&] { return ++asked > 1000; };
    lattice_orders({traffic, graph, host, {}}, lattices, context, terms, tools);
    return asked;
  };
  EXPECT_EQ(times_asked(1'000'000), 2 * names); // two orders of axes
  const std::int64_t to_build = 8 * 48, to_measure = 4 * 48;
  EXPECT_EQ(times_asked(to_build + to_measure), 1);
  // Round-robin is block here, and takes no terms for its edges.
  EXPECT_EQ(times_asked(3 * to_build + 2 * to_measure - 1), 2);
}

} // namespace
} // namespace kumihimo::mapping
