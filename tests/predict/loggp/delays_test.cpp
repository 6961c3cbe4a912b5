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

LogGopsParameters parameters() { return *parse_parameters("L=1000,o=100,g=100,G=0,O=0,S=65535", {}); }

EngineOptions noise_of(NoiseModel::Kind kind, Time length, Time interval, std::uint64_t seed, std::int32_t every = 1) {
  EngineOptions options;
  options.noise.emplace();
  options.noise->kind = kind, options.noise->length = length, options.noise->interval = interval;
  options.noise->seed = seed, options.noise->every = every;
  return options;
}

DelayMap delays_of(const goal::Graphs& graphs, const EngineOptions& options, std::size_t groups, std::size_t bins) {
  auto map = delays(graphs, parameters(), options, groups, bins);
  EXPECT_TRUE(map) << map.error().sentence();
  return *std::move(map);
}

// A round of dissemination doubles the ranks that a late one has reached. The detour of rank 0 begins during its first
// send, if the seed says so, and takes up to 50 us; the barrier takes some 7 us. That send leaves in time, as in
// LogGOPSim: those of the rounds with distances 2, 4 ... are late.
TEST(Delays, ALateRankReachesTwiceAsManyWithEachRound) {
  const goal::Graphs graphs = barrier(32);
  DelayMap map;
  Time least = 0; // of the delays that count
  for (std::uint64_t seed = 1; least < 10'000'000 && seed < 100; ++seed) {
    map = delays_of(graphs, noise_of(NoiseModel::Kind::periodic, 50'000'000, 100'000'000, seed, 32), 32, 4000);
    const std::size_t first_work = parameters().o / map.bin;
    least = map.latest[first_work + 1] / 2;
  }
  ASSERT_GE(least, 10'000'000U);
  std::set<int> counts;
  for (std::size_t bin = 0; bin < map.bins; ++bin) {
    int late = 0;
    for (std::size_t rank = 0; rank < 32; ++rank) late += map.latest[rank * map.bins + bin] > least;
    if (late > 0) counts.insert(late);
    for (int r = 0; r < 32 && late > 0; ++r)
      EXPECT_EQ(map.latest[static_cast<std::size_t>(r) * map.bins + bin] > least, r % 2 == 0 && r < 2 * late)
          << "rank " << r << " of " << late << " late ones, in bin " << bin;
  }
  EXPECT_EQ(counts, (std::set<int>{1, 2, 4, 8, 16}));
}

TEST(Delays, AtTheEndAreTheDifferencesOfBothRuns) {
  const goal::Graphs graphs = barrier(24);
  const EngineOptions options = noise_of(NoiseModel::Kind::exponential, 700'000, 3'000'000, 5);
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

TEST(Delays, NoiseOfNoRankDelaysNothing) {
  EngineOptions options = noise_of(NoiseModel::Kind::exponential, 1000, Time{1} << 60, 5);
  for (const Time delay : delays_of(barrier(8), options, 8, 10).latest) EXPECT_EQ(delay, 0U);
}

} // namespace
} // namespace kumihimo::loggp
