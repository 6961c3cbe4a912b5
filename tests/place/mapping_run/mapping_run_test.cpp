#include "../mapping/random_inputs.hpp"
#include "mapping/choice/choice.hpp"
#include "mapping/objective/hop_bytes.hpp"
#include "mapping/partition/bisection.hpp"
#include "mapping_run/partitioners.hpp"
#include "mapping_run/workers.hpp"
#include "topology/dragonfly.hpp"
#include "topology/fat_tree.hpp"
#include "topology/graph.hpp"
#include "topology/router_torus.hpp"
#include "topology/single_node.hpp"
#include "topology/tofu.hpp"
#include "topology/torus.hpp"
#include "traffic/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace kumihimo::mapping_run {
namespace {

using mapping::Assignment;
using mapping::MappingHost;
using mapping::TrafficGraph;

TEST(Workers, DoEachPartOnceAndPassExceptionsOn) {
  for (const int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> done(37);
    parallel_on(threads)(37, [&](int part) { ++done[static_cast<std::size_t>(part)]; });
    for (const std::atomic<int>& count : done) EXPECT_EQ(count, 1);
    EXPECT_THROW(parallel_on(threads)(5,
                                      [](int part) {
                                        if (part == 3) throw std::runtime_error("part 3");
                                      }),
                 std::runtime_error);
  }
}

// As on a system of up to 4,096 processors, of which the process may use three.
int affinity_of_a_large_system(pid_t, std::size_t bytes, cpu_set_t* set) {
  if (bytes < 4096 / 8) {
    errno = EINVAL;
    return -1;
  }
  for (const std::size_t processor : {0, 1023, 4095}) CPU_SET_S(processor, bytes, set);
  return 0;
}

TEST(Workers, CountProcessorsOfAnySystem) {
  EXPECT_EQ(allowed_processors(affinity_of_a_large_system), 3);
  EXPECT_GE(allowed_processors(), 1);
  EXPECT_EQ(allowed_processors([](pid_t, std::size_t, cpu_set_t*) {
              errno = EPERM;
              return -1;
            }),
            1);
  EXPECT_EQ(allowed_processors([](pid_t, std::size_t, cpu_set_t*) {
              errno = EINVAL;
              return -1;
            }),
            1);
}

class Libraries : public testing::Test {
 protected:
  void SetUp() override {
    if (all_.empty()) GTEST_SKIP() << "neither Scotch nor METIS is installed";
  }
  std::vector<std::unique_ptr<mapping::Partitioner>> all_ = open_partitioners();
};

TEST_F(Libraries, CutExactlyAndTheSameForASeedOnAnyThread) {
  const TrafficGraph graph = TrafficGraph::of(traffic_of(*GridPattern::parse("16mx16m:5,face=100")));
  std::vector<std::int64_t> pull(256, 0);
  for (std::int32_t rank = 0; rank < 16; ++rank) pull[static_cast<std::size_t>(rank)] = -1000; // the first row: part 1
  for (const auto& library : all_)
    for (const std::int32_t first : {0, 1, 100, 128, 256}) {
      const std::vector<char> part = library->halve(graph, first, pull, 7).value();
      ASSERT_EQ(std::count(part.begin(), part.end(), 0), first) << library->name();
      ASSERT_EQ(std::count(part.begin(), part.end(), 1), 256 - first) << library->name();
      std::vector<std::vector<char>> again(8);
      parallel_on(4)(
          8, [&](int at) { again[static_cast<std::size_t>(at)] = library->halve(graph, first, pull, 7).value(); });
      for (const std::vector<char>& each : again) ASSERT_EQ(each, part) << library->name() << " " << first;
      if (first != 128) continue;
      std::int64_t cut = 0;
      for (std::int32_t rank = 0; rank < 256; ++rank)
        for (const TrafficGraph::Edge& edge : graph.of(rank))
          if (edge.to > rank && part[static_cast<std::size_t>(rank)] != part[static_cast<std::size_t>(edge.to)])
            cut += edge.bytes;
      EXPECT_LE(cut, 30 * 200) << library->name(); // 16 edges at best, 240 at random
      EXPECT_EQ(part[3], 1) << library->name();    // where the pull goes
    }
}

std::vector<NodeId> nodes_of(std::initializer_list<std::int32_t> numbers) {
  std::vector<NodeId> nodes;
  for (const std::int32_t number : numbers) nodes.push_back(NodeId{number});
  return nodes;
}

// One of each kind of network that Scotch is given in a form of its own, whole, with holes, or with uneven slots.
std::vector<MappingHost> hosts_of_72_ranks() {
  std::vector<std::int32_t> holes(6 * 5 * 3, 1), uneven(6 * 6, 3);
  holes[7] = holes[20] = 0;
  for (std::size_t node = 0; node < uneven.size(); node += 2) uneven[node] = 1;
  std::vector<std::string> cables; // nine switches on a ring with a chord, ten nodes each
  for (int at = 0; at < 9; ++at) {
    cables.push_back(std::to_string(10 * at) + ".." + std::to_string(10 * at + 9) + "-" + std::to_string(90 + at));
    cables.push_back(std::to_string(90 + at) + "-" + std::to_string(90 + (at + 1) % 9));
  }
  cables.emplace_back("90-94");
  const Tofu tofu = *Tofu::make(Tofu::usual({3, 2, 2, 2, 3, 2}));
  const std::vector<Level> cores = {{"package", 36}, {"l3", 6}};
  const auto torus = [](const char* shape) { return std::make_shared<Torus>(*Shape::parse(shape)); };

  std::vector<MappingHost> hosts;
  hosts.push_back(*MappingHost::make(torus("6x4x3"), Slots(72, 1)));
  hosts.push_back(*MappingHost::make(torus("3x3x2"), Slots(18, 4)));
  hosts.push_back(*MappingHost::make(torus("6x5x3"), *Slots::of_nodes(holes)));
  hosts.push_back(*MappingHost::make(torus("6x6"), *Slots::of_nodes(uneven)));
  hosts.push_back(*MappingHost::make(torus("9mx8m"), Slots(72, 1)));
  hosts.push_back(*MappingHost::make(std::make_shared<Tofu>(tofu), Slots(144, 1)));
  std::vector<std::int32_t> alive(144, 1);
  alive[5] = 0;
  hosts.push_back(*MappingHost::make(std::make_shared<Tofu>(tofu.without(nodes_of({5}), {})), *Slots::of_nodes(alive)));
  const auto tree = std::make_shared<FatTree>(*FatTree::make({{6, 1}, {5, 2}, {3, 2}}, 90));
  hosts.push_back(*MappingHost::make(tree, Slots(90, 1)));
  hosts.push_back(*MappingHost::make(tree, *Slots::of_nodes(holes)));
  hosts.push_back(
      *MappingHost::make(std::make_shared<Dragonfly>(*Dragonfly::make({9, 4, 0, 2, 1, 1}, 72)), Slots(72, 1)));
  hosts.push_back(*MappingHost::make(std::make_shared<RouterTorus>(*Shape::parse("6x6"), 2), Slots(72, 1)));
  hosts.push_back(*MappingHost::make(std::make_shared<kumihimo::GraphTopology>(*kumihimo::GraphTopology::make(
                                         90, 9, *kumihimo::GraphTopology::parse(cables))),
                                     *Slots::of_nodes(holes)));
  hosts.push_back(MappingHost::of_cores(72, cores));
  return hosts;
}

// Shuffled, so that the usual order is as good as a random one.
Traffic shuffled_grid() { return mapping::with_other_numbers(traffic_of(*GridPattern::parse("6x4x3:7")), 5); }

TEST_F(Libraries, MapsOfTheirOwnHaveOneRankASlot) {
  if (all_.front()->name() != "Scotch") GTEST_SKIP() << "Scotch is not installed";
  const TrafficGraph graph = TrafficGraph::of(shuffled_grid());
  for (const MappingHost& host : hosts_of_72_ranks())
    for (int strategy = 0; strategy < all_.front()->strategies(); ++strategy) {
      const std::optional<Assignment> map = all_.front()->whole_map(graph, host, strategy, 3);
      ASSERT_TRUE(map) << host.network->name();
      ASSERT_EQ(map->ranks(), 72);
      ASSERT_EQ(map->slots(), host.size()); // one rank a slot: asserted by Assignment::of_slots
      EXPECT_EQ(map, all_.front()->whole_map(graph, host, strategy, 3)) << host.network->name();
      // Other numbers of nodes than Scotch's would be as bad as the usual order.
      const std::int64_t usual = mapping::hop_bytes(graph, host, Assignment::identity(72, host.size()));
      EXPECT_LT(10 * mapping::hop_bytes(graph, host, *map), 9 * usual) << host.network->name() << ", " << strategy;
    }
  EXPECT_FALSE(all_.front()->whole_map(graph, hosts_of_72_ranks().front(), 99, 3));
  EXPECT_FALSE(all_.front()->whole_map(graph, *MappingHost::make(std::make_shared<SingleNode>(), Slots(1, 72)), 0, 3));
}

// Above 2,048 nodes there is no table: networks on switches are trees of their levels, uneven tori are boxes.
TEST_F(Libraries, MapOntoNetworksThatAreTooLargeForATable) {
  if (all_.front()->name() != "Scotch") GTEST_SKIP() << "Scotch is not installed";
  const TrafficGraph graph =
      TrafficGraph::of(mapping::with_other_numbers(traffic_of(*GridPattern::parse("48x48:5")), 5));
  std::vector<std::int32_t> uneven(2304, 1);
  for (std::size_t node = 0; node < uneven.size(); node += 2) uneven[node] = 2;
  const auto dragonfly = std::make_shared<Dragonfly>(*Dragonfly::make({33, 8, 0, 9, 4, 1}, 2304));
  const auto torus = std::make_shared<Torus>(*Shape::parse("48x48"));
  for (const MappingHost& host :
       {*MappingHost::make(dragonfly, Slots(2304, 1)), *MappingHost::make(torus, *Slots::of_nodes(uneven))}) {
    const std::optional<Assignment> map = all_.front()->whole_map(graph, host, 0, 3);
    ASSERT_TRUE(map) << host.network->name();
    ASSERT_EQ(map->slots(), host.size()); // one rank a slot: asserted by Assignment::of_slots
    const std::int64_t usual = mapping::hop_bytes(graph, host, Assignment::identity(2304, host.size()));
    EXPECT_LT(10 * mapping::hop_bytes(graph, host, *map), 9 * usual) << host.network->name();
  }
  // It has neither levels nor axes of nodes.
  const auto routers = std::make_shared<RouterTorus>(*Shape::parse("12x12x8"), 2);
  EXPECT_FALSE(all_.front()->whole_map(graph, *MappingHost::make(routers, Slots(2304, 1)), 0, 3));
}

// The table of distances and the torus are two forms of the same network.
TEST_F(Libraries, MapsOntoATableAreAboutAsGoodAsOntoATorus) {
  if (all_.front()->name() != "Scotch") GTEST_SKIP() << "Scotch is not installed";
  const TrafficGraph graph =
      TrafficGraph::of(mapping::with_other_numbers(traffic_of(*GridPattern::parse("8x8x8:7")), 5));
  std::vector<std::int32_t> uneven(512, 1);
  uneven[0] = 2; // the extra slot stays free
  std::array<std::int64_t, 2> hops{};
  for (std::size_t form = 0; form < 2; ++form) {
    const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("8x8x8")),
                                                form == 0 ? Slots(512, 1) : *Slots::of_nodes(uneven));
    hops[form] = mapping::hop_bytes(graph, host, all_.front()->whole_map(graph, host, 0, 3).value());
  }
  EXPECT_LT(2 * hops[1], 3 * hops[0]);
}

TEST_F(Libraries, PlacementsAreNeverWorseThanTheirMaps) {
  const Traffic traffic = shuffled_grid();
  const TrafficGraph graph = TrafficGraph::of(traffic);
  std::vector<mapping::Partitioner*> partitioners;
  for (const auto& library : all_) partitioners.push_back(library.get());
  std::map<bool, int> compared; // with a limit of links and without
  for (const MappingHost& host : hosts_of_72_ranks())
    for (const bool caps_links : {false, true}) {
      const mapping::Mapping mapping = *mapping::map_ranks(
          {.traffic = traffic, .host = host, .caps_links = caps_links, .partitioners = partitioners}, {});
      const mapping::Measures got = mapping.candidates[mapping.chosen].measures;
      const mapping::Measures usual = mapping.candidates.front().measures;
      for (const auto& library : all_)
        for (int strategy = 0; strategy < library->strategies(); ++strategy) {
          const std::optional<Assignment> map =
              library->whole_map(graph, host, strategy, 1 + static_cast<std::uint64_t>(strategy));
          if (!map) continue;
          const mapping::Measures own = mapping::measure(traffic, host, *map);
          if (!caps_links || own.link_bytes_max <= usual.link_bytes_max) {
            EXPECT_LE(got.hop_bytes, own.hop_bytes) << host.network->name() << ", " << strategy;
            ++compared[caps_links];
          }
        }
    }
  const bool has_scotch = all_.front()->name() == "Scotch"; // METIS has no maps of its own
  EXPECT_EQ(compared.size(), has_scotch ? 2U : 0U);
}

TEST_F(Libraries, BisectionIsTheSameOnAnyNumberOfThreads) {
  const Traffic traffic = traffic_of(*GridPattern::parse("16x16:9"));
  const TrafficGraph graph = TrafficGraph::of(traffic);
  const MappingHost host = *MappingHost::make(std::make_shared<Torus>(*Shape::parse("16x16")), Slots(256, 1));
  const mapping::MappingProblem problem{traffic, graph, host, {}};
  for (const auto& library : all_) {
    const Assignment one = mapping::bisect(problem, *library, {}, {});
    mapping::Tools tools;
    tools.parallel = parallel_on(5);
    EXPECT_EQ(one, mapping::bisect(problem, *library, {}, tools)) << library->name();
    EXPECT_LT(mapping::hop_bytes(graph, host, one), 3 * traffic.bytes());
  }
}

} // namespace
} // namespace kumihimo::mapping_run
