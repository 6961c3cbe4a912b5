#include "mapping_run/run.hpp"
#include "topology/single_node.hpp"
#include "topology/torus.hpp"
#include "traffic/pattern.hpp"

#include <gtest/gtest.h>

namespace kumihimo::mapping_run {
namespace {

using mapping::SearchEffort;

RunRequest request(const char* pattern, const char* torus, int each = 1) {
  const auto network = std::make_shared<Torus>(*Shape::parse(torus));
  return {.traffic = std::make_shared<const Traffic>(traffic_of(*GridPattern::parse(pattern))),
          .network = network,
          .slots = Slots(network->nodes(), each),
          .nodes = network->shape()};
}

const mapping::CandidateMap& chosen(const RunResult& result) {
  return result.mapping.candidates[result.mapping.chosen];
}

TEST(Run, GivesTheSameOnAnyNumberOfThreads) {
  for (const bool libraries : {false, true}) {
    std::vector<NodeId> first;
    for (const int threads : {1, 2, 5}) {
      RunRequest asked = request("5x7m:9", "6x6");
      asked.threads = threads;
      asked.uses_libraries = libraries;
      const RunResult result = *MappingRun(std::move(asked)).result();
      if (!libraries) {
        EXPECT_TRUE(result.libraries.empty());
      }
      if (first.empty()) first = result.placement.node_of_rank();
      EXPECT_EQ(result.placement.node_of_rank(), first) << threads;
      EXPECT_TRUE(result.mapping.complete);
    }
  }
}

TEST(Run, StopsSoonWithWhatItHas) {
  RunRequest asked = request("13x11x7:27", "11x13x8");
  asked.effort = SearchEffort::thorough;
  MappingRun run(std::move(asked));
  EXPECT_FALSE(run.wait(0.2));
  run.stop();
  EXPECT_TRUE(run.wait(20));
  const RunResult result = *run.result();
  EXPECT_FALSE(result.mapping.complete);
  EXPECT_LE(chosen(result).measures.hop_bytes, result.mapping.candidates.front().measures.hop_bytes);
}

TEST(Run, EndsWhenItIsDestroyed) {
  RunRequest asked = request("13x11x7:27", "11x13x8");
  asked.effort = SearchEffort::thorough;
  const MappingRun run(std::move(asked));
}

TEST(Run, TellsHowFarItIs) {
  MappingRun run(request("8x8m:9", "4x4x5"));
  const RunResult result = *run.result();
  const mapping::SearchProgress progress = run.progress();
  EXPECT_FALSE(progress.phase.empty());
  EXPECT_GT(progress.average_hops, 0);
  EXPECT_EQ(result.placement.ranks(), 64);
}

TEST(Run, PlacesRanksOnTheCoresOfANode) {
  RunRequest asked{.traffic = std::make_shared<const Traffic>(traffic_of(*GridPattern::parse("4x2:5"))),
                   .network = std::make_shared<SingleNode>(),
                   .slots = Slots(1, 8),
                   .cores = {{"package", 4}, {"l3", 2}}};
  const RunResult result = *MappingRun(std::move(asked)).result();
  EXPECT_EQ(result.placement.slots(), Slots(1, 8));
  EXPECT_LE(chosen(result).measures.hop_bytes, result.mapping.candidates.front().measures.hop_bytes);
}

TEST(Run, PlacesRanksWithinTheirNodes) {
  RunRequest asked = request("4x4:5", "2x1", 8);
  asked.within_node = {{"package", 4}};
  const RunResult result = *MappingRun(std::move(asked)).result();
  ASSERT_EQ(result.levels.size(), 1U);
  EXPECT_EQ(result.levels[0].name, "package");
  EXPECT_LE(result.levels[0].after, result.levels[0].before);
}

// Twice these bytes overflow, which the sanitizers find.
TEST(Run, PlacesAsManyBytesAsTrafficMayHaveWithinNodes) {
  TrafficBuilder builder = *TrafficBuilder::make(8);
  ASSERT_TRUE(builder.add(Rank{0}, Rank{2}, most_traffic, 1).ok());
  RunRequest asked{.traffic = std::make_shared<const Traffic>(*std::move(builder).build()),
                   .network = std::make_shared<Torus>(*Shape::parse("2")),
                   .slots = Slots(2, 4),
                   .within_node = {{"package", 2}}};
  const RunResult result = *MappingRun(std::move(asked)).result();
  EXPECT_EQ(result.levels.at(0).before, most_traffic);
  EXPECT_EQ(result.levels.at(0).after, 0);
}

TEST(Run, SaysWhatIsWrong) {
  EXPECT_EQ(MappingRun(request("4x4:5", "3x3")).result().error().problem,
            "the traffic must have at most 9 ranks, one for each slot (got 16)");
}

} // namespace
} // namespace kumihimo::mapping_run
