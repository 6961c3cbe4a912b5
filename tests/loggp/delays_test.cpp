#include "collectives/registry.hpp"
#include "goal/programs.hpp"
#include "loggp/delays.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kumihimo::loggp {
namespace {

goal::Graphs barrier(std::int32_t ranks) {
  const Variant& variant = **Registry::standard().find(CollectiveKind::barrier, "dissemination");
  const auto schedule = variant.build(make_collective(CollectiveKind::barrier, ranks, 1), RankSpace::row(ranks));
  EXPECT_TRUE(schedule) << schedule.error().sentence();
  auto graphs = goal::graphs_of(*schedule);
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  return *std::move(graphs);
}

Parameters parameters() { return *parse_parameters("L=1000,o=100,g=100,G=0,O=0,S=65535", {}); }

// One detour of 50 us at the start of rank 0, or of all ranks.
EngineOptions one_detour(std::int32_t every, Time start = 0) {
  EngineOptions options;
  options.noise.emplace();
  options.noise->kind = NoiseModel::Kind::trace;
  options.noise->detours = {{start, 50'000'000}};
  options.noise->interval = 1'000'000'000'000;
  options.noise->cosched = true, options.noise->every = every;
  return options;
}

DelayMap delays_of(const goal::Graphs& graphs, const EngineOptions& options, std::size_t groups, std::size_t bins) {
  auto map = delays(graphs, parameters(), options, groups, bins);
  EXPECT_TRUE(map) << map.error().sentence();
  return *std::move(map);
}

// A round of dissemination doubles the ranks that a late one has reached.
TEST(Delays, ALateRankReachesTwiceAsManyWithEachRound) {
  const goal::Graphs graphs = barrier(32);
  const DelayMap map = delays_of(graphs, one_detour(32), 32, 4000);
  std::set<int> counts;
  for (std::size_t bin = 0; bin < map.bins; ++bin) {
    int late = 0;
    for (std::size_t rank = 0; rank < 32; ++rank) late += map.latest[rank * map.bins + bin] > 40'000'000;
    if (late > 0) counts.insert(late);
    for (int r = 0; r < 32 && late > 0; ++r)
      EXPECT_EQ(map.latest[static_cast<std::size_t>(r) * map.bins + bin] > 40'000'000, r < late)
          << "not the " << late << " ranks behind rank 0, in bin " << bin;
  }
  EXPECT_EQ(counts, (std::set<int>{1, 2, 4, 8, 16, 32}));
}

TEST(Delays, AtTheEndAreTheDifferencesOfBothRuns) {
  const goal::Graphs graphs = barrier(24);
  EngineOptions options;
  options.noise.emplace();
  options.noise->kind = NoiseModel::Kind::exponential;
  options.noise->interval = 3'000'000, options.noise->length = 700'000, options.noise->seed = 5;
  const DelayMap map = delays_of(graphs, options, 24, 16);
  const auto free = run(graphs, parameters()), noisy = run(graphs, parameters(), options);
  ASSERT_TRUE(free && noisy);
  ASSERT_EQ(map.groups, 24U);
  for (std::size_t rank = 0; rank < 24; ++rank)
    EXPECT_EQ(map.latest[(rank + 1) * map.bins - 1], noisy->end[rank] - free->end[rank]) << "rank " << rank;

  const DelayMap few = delays_of(graphs, options, 5, 16); // of 5, 5, 5, 5 and 4 ranks
  ASSERT_EQ(few.groups, 5U);
  for (std::size_t at = 0; at < few.groups * few.bins; ++at) {
    Time most = 0;
    for (std::size_t rank = at / few.bins * 5; rank < std::min<std::size_t>(24, at / few.bins * 5 + 5); ++rank)
      most = std::max(most, map.latest[rank * map.bins + at % few.bins]);
    EXPECT_EQ(few.latest[at], most);
  }
}

TEST(Delays, NoiseAfterTheEndDelaysNothing) {
  const DelayMap map = delays_of(barrier(8), one_detour(1, 900'000'000'000), 8, 10);
  for (const Time delay : map.latest) EXPECT_EQ(delay, 0U);
}

} // namespace
} // namespace kumihimo::loggp
