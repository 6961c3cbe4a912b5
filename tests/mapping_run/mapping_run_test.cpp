#include "mapping/objective/hop_bytes.hpp"
#include "mapping/partition/bisection.hpp"
#include "mapping_run/partitioners.hpp"
#include "mapping_run/workers.hpp"
#include "topology/tofu.hpp"
#include "topology/torus.hpp"
#include "traffic/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>

namespace kumihimo::mapping_run {
namespace {

using mapping::Assignment;
using mapping::Graph;
using mapping::Host;

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

class Libraries : public testing::Test {
 protected:
  void SetUp() override {
    if (all_.empty()) GTEST_SKIP() << "neither Scotch nor METIS is installed";
  }
  std::vector<std::unique_ptr<mapping::Partitioner>> all_ = open_partitioners();
};

TEST_F(Libraries, CutExactlyAndTheSameForASeedOnAnyThread) {
  const Graph graph = Graph::of(traffic_of(*GridPattern::parse("16mx16m:5,face=100")));
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
        for (const Graph::Edge& edge : graph.of(rank))
          if (edge.to > rank && part[static_cast<std::size_t>(rank)] != part[static_cast<std::size_t>(edge.to)])
            cut += edge.bytes;
      EXPECT_LE(cut, 30 * 200) << library->name(); // 16 edges at best, 240 at random
      EXPECT_EQ(part[3], 1) << library->name();    // where the pull goes
    }
}

TEST_F(Libraries, MapsOfTheirOwnHaveOneRankASlot) {
  const Traffic traffic = traffic_of(*GridPattern::parse("6x4x3:7"));
  const Graph graph = Graph::of(traffic);
  std::vector<std::int32_t> holes(6 * 5 * 3, 1);
  holes[7] = holes[20] = 0;
  std::vector<Host> hosts;
  hosts.push_back(*Host::make(std::make_shared<Torus>(*Shape::parse("6x4x3")), Slots(72, 1)));
  hosts.push_back(*Host::make(std::make_shared<Torus>(*Shape::parse("3x3x2")), Slots(18, 4)));
  hosts.push_back(*Host::make(std::make_shared<Torus>(*Shape::parse("6x5x3")), *Slots::of_nodes(holes)));
  hosts.push_back(*Host::make(std::make_shared<Torus>(*Shape::parse("9mx8m")), Slots(72, 1)));
  hosts.push_back(*Host::make(std::make_shared<Tofu>(*Tofu::make(Tofu::usual({3, 2, 2, 2, 3, 2}))), Slots(144, 1)));
  int maps = 0;
  for (const Host& host : hosts)
    for (const auto& library : all_)
      for (int strategy = 0; strategy < 4; ++strategy) {
        const std::optional<Assignment> map = library->whole_map(graph, host, strategy, 3);
        if (!map) continue;
        ++maps;
        ASSERT_EQ(map->ranks(), 72);
        ASSERT_EQ(map->slots(), host.size()); // one rank a slot: asserted by Assignment::of_slots
        EXPECT_EQ(map, library->whole_map(graph, host, strategy, 3));
        // A wrong order of axes would be as bad as a random map.
        Assignment identity = Assignment::identity(72, host.size());
        EXPECT_LT(2 * mapping::hop_bytes(graph, host, *map), 5 * mapping::hop_bytes(graph, host, identity));
      }
  if (all_.front()->name() == "Scotch") {
    EXPECT_EQ(maps, 20);
    EXPECT_FALSE(all_.front()->whole_map(graph, hosts[0], 99, 3));
  }
}

TEST_F(Libraries, BisectionIsTheSameOnAnyNumberOfThreads) {
  const Traffic traffic = traffic_of(*GridPattern::parse("16x16:9"));
  const Graph graph = Graph::of(traffic);
  const Host host = *Host::make(std::make_shared<Torus>(*Shape::parse("16x16")), Slots(256, 1));
  const mapping::Problem problem{traffic, graph, host, {}};
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
