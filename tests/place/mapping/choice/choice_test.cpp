#include "../networks.hpp"
#include "../random_inputs.hpp"
#include "mapping/choice/candidates.hpp"
#include "mapping/choice/choice.hpp"
#include "mapping/objective/link_loads.hpp"
#include "placement/orders.hpp"
#include "traffic/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {
namespace {

TopologyPtr torus(const char* shape) { return std::make_shared<Torus>(*Shape::parse(shape)); }

const CandidateMap& chosen(const Mapping& mapping) { return mapping.candidates[mapping.chosen]; }

TEST(Choice, FindsShuffledGridsExactly) {
  for (const char* pattern : {"8x8:5", "6x5x4:7", "4x4x4:27", "8mx6m:5"}) {
    const GridPattern grid = *GridPattern::parse(pattern);
    const Traffic traffic = with_other_numbers(traffic_of(grid), 5);
    const MappingHost host = *MappingHost::make(std::make_shared<Torus>(grid.shape), Slots(grid.shape.places(), 1));
    const Mapping mapping = *map_ranks({traffic, host, Objective::hop_bytes, SearchEffort::fast}, {});
    const Measures identity = measure(traffic_of(grid), host, Assignment::identity(traffic.ranks(), host.size()));
    EXPECT_EQ(chosen(mapping).measures, identity) << pattern;
    EXPECT_FALSE(mapping.lattices.empty()) << pattern;
  }
}

// The chosen placement has no more hop-bytes and no busier link than any order that is no busier than the usual one.
TEST(Choice, IsNeverWorseThanSimpleOrders) {
  Random random(3);
  for (const TopologyPtr& network : small_networks())
    for (const int kind : {1, 2, 3}) { // slots a node; 3: some have none
      std::vector<std::int32_t> sizes(static_cast<std::size_t>(network->nodes()), kind);
      if (kind == 3)
        for (std::int32_t& size : sizes) size = static_cast<std::int32_t>(random.below(4));
      if (std::accumulate(sizes.begin(), sizes.end(), 0) < 4) sizes[0] = 4;
      const MappingHost host = *MappingHost::make(network, *Slots::of_nodes(sizes));
      const Traffic traffic = any_traffic(std::max(2, host.size() - 1), random);
      const auto* shape = dynamic_cast<const Torus*>(network.get());
      for (const SearchEffort effort : {SearchEffort::fast, SearchEffort::standard}) {
        const Mapping mapping = *map_ranks(
            {.traffic = traffic, .host = host, .effort = effort, .nodes = shape ? shape->shape() : Shape()}, {});
        const Measures got = chosen(mapping).measures, usual = mapping.candidates.front().measures;
        EXPECT_EQ(measure(traffic, host, chosen(mapping).map), got);
        EXPECT_LE(got.link_bytes_max, usual.link_bytes_max);
        const OrderContext context{host.slots, shape ? shape->shape() : Shape(), {}, traffic.ranks()};
        for (const std::string& order : simple_orders(context)) {
          const Measures simple = measure(traffic, host, Assignment::of(*placement_in_order(order, context)));
          if (simple.link_bytes_max <= usual.link_bytes_max) {
            EXPECT_LE(got.hop_bytes, simple.hop_bytes) << network->name() << ", " << order;
          }
        }
        ASSERT_FALSE(mapping.bounds.empty());
        EXPECT_LE(mapping.bounds.front().average_hops, got.average_hops);
        EXPECT_LE(mapping.link_bounds.front().bytes, got.link_bytes_max);
      }
    }
}

TEST(Choice, OfFewRanksIsTheOptimum) {
  Random random(11);
  for (const char* shape : {"6", "2x3", "5m"}) {
    const TopologyPtr network = torus(shape);
    const MappingHost host = *MappingHost::make(network, Slots(network->nodes(), 1));
    const Traffic traffic = any_traffic(network->nodes(), random);
    const std::int64_t cap = measure(traffic, host, Assignment::identity(host.size(), host.size())).link_bytes_max;
    std::vector<std::int32_t> order(static_cast<std::size_t>(host.size()));
    std::iota(order.begin(), order.end(), 0);
    double least = 1e300;
    do {
      const Measures measures = measure(traffic, host, Assignment::of_slots(order, host.size()));
      if (measures.link_bytes_max <= cap) least = std::min(least, measures.hop_bytes);
    } while (std::next_permutation(order.begin(), order.end()));
    const Mapping mapping = *map_ranks({traffic, host, Objective::hop_bytes, SearchEffort::standard}, {});
    EXPECT_EQ(chosen(mapping).measures.hop_bytes, least) << shape;
  }
}

TEST(Choice, DoesNotDependOnTheOrderOfParts) {
  Random random(5);
  const MappingHost host = *MappingHost::make(torus("4x4x2"), Slots(32, 2));
  const Traffic traffic = any_traffic(60, random);
  Tools backwards;
  backwards.parallel = [](int parts, const auto& work) {
    for (int part = parts; part-- > 0;) work(part);
  };
  const MappingRequest request{traffic, host, Objective::hop_bytes, SearchEffort::standard};
  const Mapping one = *map_ranks(request, {}), other = *map_ranks(request, backwards);
  EXPECT_EQ(chosen(one).map, chosen(other).map);
  EXPECT_EQ(one.candidates.size(), other.candidates.size());
}

TEST(Choice, StoppedAtAnyTimeGivesAPlacement) {
  Random random(6);
  const MappingHost host = *MappingHost::make(torus("4x4"), Slots(16, 1));
  const Traffic traffic = any_traffic(16, random);
  const MappingRequest request{traffic, host, Objective::hop_bytes, SearchEffort::standard};
  for (const int polls : {0, 1, 5, 50, 500}) {
    int asked = 0;
    Tools tools;
    tools.stop = [&] { return asked++ >= polls; };
    const Mapping mapping = *map_ranks(request, tools);
    EXPECT_FALSE(mapping.complete);
    EXPECT_LE(chosen(mapping).measures.hop_bytes, mapping.candidates.front().measures.hop_bytes);
  }
}

TEST(Choice, FollowsItsObjective) {
  Random random(8);
  const MappingHost host = *MappingHost::make(torus("4x4"), Slots(16, 2));
  const Traffic traffic = any_traffic(32, random);
  const auto found = [&](Objective objective) {
    MappingRequest request{traffic, host, objective, SearchEffort::standard};
    // The usual order, which has rank 0 on node 0, is the slowest.
    request.seconds = [](const Placement& placement) { return placement.is_block() ? 2.0 : 1.0; };
    return chosen(*map_ranks(request, {}));
  };
  // A bound of the links holds whatever the objective is.
  for (const Objective objective : {Objective::hop_bytes, Objective::links, Objective::off_node}) {
    const Mapping mapping = *map_ranks({traffic, host, objective, SearchEffort::standard}, {});
    EXPECT_LE(mapping.link_bounds.front().bytes, chosen(mapping).measures.link_bytes_max);
  }
  const CandidateMap hops = found(Objective::hop_bytes), links = found(Objective::links),
                     off_node = found(Objective::off_node), time = found(Objective::time);
  EXPECT_LE(links.measures.link_bytes_max, hops.measures.link_bytes_max);
  EXPECT_LE(off_node.measures.off_node_bytes, hops.measures.off_node_bytes);
  EXPECT_LE(hops.measures.hop_bytes, links.measures.hop_bytes);
  EXPECT_LE(hops.measures.hop_bytes, off_node.measures.hop_bytes);
  EXPECT_EQ(time.seconds, 1.0);
}

// With one rank a node all maps have equal bytes between nodes, and hop-bytes decide.
TEST(Choice, OfEqualBytesBetweenNodesTakesTheLeastHopBytes) {
  const Traffic traffic = with_other_numbers(traffic_of(*GridPattern::parse("8x8:9")), 3);
  const MappingHost host = *MappingHost::make(torus("4x4x4"), Slots(64, 1));
  const auto found = [&](Objective objective) {
    return chosen(*map_ranks({traffic, host, objective, SearchEffort::fast}, {})).measures;
  };
  const Measures hops = found(Objective::hop_bytes), off_node = found(Objective::off_node);
  EXPECT_EQ(off_node.off_node_bytes, hops.off_node_bytes);
  EXPECT_LE(off_node.hop_bytes, hops.hop_bytes);
}

TEST(Choice, OfOneSlotANodeAndHolesTakesTheLeastHopBytes) {
  const Traffic traffic = traffic_of(*GridPattern::parse("8x8:5"));
  std::vector<std::int32_t> sizes(81, 1);
  sizes[0] = 0;
  const MappingHost host = *MappingHost::make(torus("9x9"), *Slots::of_nodes(sizes));
  const auto found = [&](Objective objective) {
    const MappingRequest request{.traffic = traffic, .host = host, .objective = objective, .nodes = Shape({{9}, {9}})};
    return chosen(*map_ranks(request, {})).measures;
  };
  EXPECT_EQ(found(Objective::off_node), found(Objective::hop_bytes));
}

TEST(Choice, OfOrdersAloneHasNoOtherCandidates) {
  const Traffic traffic = with_other_numbers(traffic_of(*GridPattern::parse("6x6:5")), 3);
  const MappingHost host = *MappingHost::make(torus("6x6"), Slots(36, 1));
  const Mapping mapping =
      *map_ranks({.traffic = traffic, .host = host, .nodes = Shape({{6}, {6}}), .only_orders = true}, {});
  EXPECT_GT(mapping.candidates.size(), 3U);
  for (const CandidateMap& candidate : mapping.candidates)
    EXPECT_EQ(candidate.origin, MapOrigin::order) << candidate.name;
}

TEST(Choice, StopsBetweenOrders) {
  const Traffic traffic = traffic_of(*GridPattern::parse("6x6:5"));
  const MappingHost host = *MappingHost::make(torus("6x6"), Slots(36, 1));
  Tools tools;
  tools.stop = [] { return true; };
  const Mapping mapping = *map_ranks({.traffic = traffic, .host = host, .nodes = Shape({{6}, {6}})}, tools);
  EXPECT_EQ(mapping.candidates.size(), 1U);
  EXPECT_FALSE(mapping.complete);
}

// A library whose map lowers the cap below what the usual order carries, at the price of hop-bytes.
class CoolLibrary final : public Partitioner {
 public:
  std::string_view name() const override { return "cool"; }
  Result<std::vector<char>> halve(const TrafficGraph&, std::int32_t, std::span<const std::int64_t>,
                                  std::uint64_t) override {
    return failed("this library maps only");
  }
  std::optional<Assignment> whole_map(const TrafficGraph& graph, const MappingHost&, int, std::uint64_t) override {
    // Neighbours of a ring of 8 go two apart, and the heavy pair shares no link with them.
    std::vector<std::int32_t> slots = {0, 1, 2, 3, 4, 5, 6, 7};
    std::swap(slots[2], slots[5]);
    return Assignment::of_slots(std::vector(slots.begin(), slots.begin() + graph.ranks()), 8);
  }
};

TEST(Choice, IsNotLongerThanTheUsualOrderBecauseOfALibrary) {
  Random random(21);
  for (int turn = 0; turn < 20; ++turn) {
    const MappingHost host = *MappingHost::make(torus("8"), Slots(8, 1));
    const Traffic traffic = any_traffic(8, random);
    CoolLibrary library;
    Partitioner* const libraries[] = {&library};
    const Mapping mapping =
        *map_ranks({.traffic = traffic, .host = host, .effort = SearchEffort::fast, .partitioners = libraries}, {});
    EXPECT_LE(chosen(mapping).measures.hop_bytes, mapping.candidates.front().measures.hop_bytes);
    EXPECT_LE(chosen(mapping).measures.link_bytes_max, mapping.candidates.front().measures.link_bytes_max);
  }
}

// Nor has it more bytes between nodes, or takes longer, where that is asked for.
TEST(Choice, IsNotWorseInItsObjectiveBecauseOfALibrary) {
  Random random(22);
  for (int turn = 0; turn < 40; ++turn) {
    const MappingHost host = *MappingHost::make(torus("4"), Slots(4, 2));
    const Traffic traffic = any_traffic(8, random);
    CoolLibrary library;
    Partitioner* const libraries[] = {&library};
    MappingRequest request{.traffic = traffic, .host = host, .effort = SearchEffort::fast, .partitioners = libraries};
    request.objective = Objective::off_node;
    const Mapping off_node = *map_ranks(request, {});
    EXPECT_LE(chosen(off_node).measures.off_node_bytes, off_node.candidates.front().measures.off_node_bytes);
    for (const CandidateMap& candidate : off_node.candidates) // the library's links are no cap here
      if (candidate.measures.link_bytes_max <= off_node.candidates.front().measures.link_bytes_max) {
        EXPECT_LE(chosen(off_node).measures.off_node_bytes, candidate.measures.off_node_bytes);
      }
    request.objective = Objective::time;
    request.seconds = [&](const Placement& placement) -> std::optional<double> {
      return placement.slot(Rank{0}).node.value; // the usual order is the fastest
    };
    const Mapping time = *map_ranks(request, {});
    EXPECT_LE(*chosen(time).seconds, *time.candidates.front().seconds);
  }
}

// Ranks 0 and 1 send one byte each, two nodes along a row of four: in block order both cross the middle link.
TEST(Candidates, ALibraryMapThatIsHereAlreadyLowersTheCap) {
  TrafficBuilder builder = *TrafficBuilder::make(4);
  ASSERT_TRUE(builder.add(Rank{0}, Rank{2}, 1, 1).ok());
  ASSERT_TRUE(builder.add(Rank{1}, Rank{3}, 1, 1).ok());
  const Traffic traffic = *std::move(builder).build();
  const MappingHost host = *MappingHost::make(torus("4m"), Slots(4, 1));
  const MappingRequest request{traffic, host};
  const Tools tools;
  Candidates candidates(request, tools);
  const Assignment near = Assignment::of_slots({0, 2, 1, 3}, 4);
  candidates.add(MapOrigin::order, {{"block", Assignment::identity(4, 4)}, {"near", near}});
  EXPECT_EQ(candidates.link_cap(), 2);
  candidates.add(MapOrigin::library, {{"library", near}});
  EXPECT_EQ(candidates.link_cap(), 1);
  EXPECT_EQ(candidates.all().size(), 2U);
  EXPECT_FALSE(candidates.all().front().is_within_cap);
  EXPECT_TRUE(candidates.all().back().is_within_cap);
}

TEST(Choice, ComparesWithTheUsualOrderThatItIsGiven) {
  const MappingHost host = *MappingHost::make(torus("4x4"), Slots(16, 1));
  const Traffic traffic = traffic_of(*GridPattern::parse("4x4:5"));
  std::vector<std::int32_t> backwards(16);
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const Mapping mapping = *map_ranks({.traffic = traffic,
                                      .host = host,
                                      .effort = SearchEffort::fast,
                                      .usual = NamedMap{"hosts", Assignment::of_slots(backwards, 16)}},
                                     {});
  EXPECT_EQ(mapping.candidates.front().name, "hosts");
}

TEST(Choice, RefusesWhatDoesNotFit) {
  const MappingHost host = *MappingHost::make(torus("3x3"), Slots(9, 1));
  const Traffic ten = traffic_of(*GridPattern::parse("10:3")), nine = traffic_of(*GridPattern::parse("9:3"));
  const auto error = [&](const MappingRequest& request) { return map_ranks(request, {}).error().sentence(); };
  EXPECT_EQ(error({ten, host}), "the traffic must have at most 9 ranks, one for each slot (got 10); take more nodes or "
                                "more ranks per node");
  EXPECT_EQ(error({.traffic = nine, .host = host, .grid = *Shape::parse("4x2")}),
            "the grid must have the 9 ranks of the traffic (got 4x2)");
  EXPECT_EQ(error({.traffic = nine, .host = host, .starts = {{"mine", Assignment::identity(8, 9)}}}),
            "mine must place 9 ranks in 9 slots (got 8 in 9)");
  EXPECT_EQ(objective_of("hops").error().sentence(),
            "the objective must be one of hop-bytes, links, time, off-node (got hops)");
  EXPECT_EQ(effort_of("more").error().sentence(), "the effort must be one of fast, standard, thorough (got more)");
}

} // namespace
} // namespace kumihimo::mapping
