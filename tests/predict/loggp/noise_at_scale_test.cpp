// What noise of the same share does, by its frequency: T. Hoefler, T. Schneider, A. Lumsdaine, SC10; K. Ferreira, P.
// Bridges, R. Brightwell, SC08 (2.5 % of the time: from nothing to a factor of 20).
#include "collectives/registry.hpp"
#include "goal/programs.hpp"
#include "loggp/engine.hpp"

#include <gtest/gtest.h>

namespace kumihimo::loggp {
namespace {

constexpr Time millisecond = 1'000'000'000;

// So many times a millisecond of work and a collective of all ranks.
goal::Graphs steps(std::int32_t ranks, int count, CollectiveKind kind, std::string_view algorithm) {
  const Variant& variant = **Registry::standard().find(kind, algorithm);
  const auto schedule = variant.build(make_collective(kind, ranks, 1), RankSpace::row(ranks));
  EXPECT_TRUE(schedule) << schedule.error().sentence();
  goal::Graphs graphs(ranks);
  goal::ProgramOperations collective(*schedule, {});
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    goal::GraphBuilder builder;
    std::vector<std::uint32_t> at;
    const auto distance = [&](std::int32_t peer) { return graphs.distance(rank, peer); };
    for (int step = 0; step < count; ++step) {
      goal::GraphOperation work;
      work.kind = goal::Kind::calc, work.size = millisecond;
      const std::uint32_t calc = builder.add(work);
      for (const std::uint32_t on : at) builder.after_end(calc, on);
      at = *collective.append(builder, Rank{rank}, std::vector<std::uint32_t>{calc}, distance);
    }
    graphs.set(rank, builder.finish());
  }
  return graphs;
}

double slowdown(const goal::Graphs& graphs, const NoiseModel& noise) {
  const LogGopsParameters parameters = *parse_parameters("L=1000,o=500,g=500,G=1,S=65536", {});
  EngineOptions options;
  const auto quiet = run(graphs, parameters, options);
  options.noise = noise;
  const auto noisy = run(graphs, parameters, options);
  EXPECT_TRUE(quiet && noisy);
  return static_cast<double>(noisy->last) / static_cast<double>(quiet->last);
}

NoiseModel periodic(Time length, Time interval) {
  NoiseModel noise;
  noise.length = length, noise.interval = interval;
  return noise;
}

// 2.5 % each: 25 us of every ms, and 2.5 ms of every 100 ms.
const NoiseModel short_pulses = periodic(millisecond / 40, millisecond);
const NoiseModel long_pulses = periodic(5 * millisecond / 2, 100 * millisecond);

TEST(NoiseAtScale, ShortPulsesAreAbsorbedAndLongOnesAmplified) {
  for (const auto& [kind, algorithm] : {std::pair(CollectiveKind::barrier, "dissemination"),
                                        std::pair(CollectiveKind::allreduce, "recursive_doubling")}) {
    const goal::Graphs graphs = steps(1024, 10, kind, algorithm);
    const double of_short = slowdown(graphs, short_pulses), of_long = slowdown(graphs, long_pulses);
    EXPECT_GT(of_short, 1.02);
    EXPECT_LT(of_short, 1.10) << "little more than its share";
    EXPECT_GT(of_long, 2.5) << "at every step some rank is held up for a whole pulse";
  }
}

TEST(NoiseAtScale, LongPulsesHurtMoreTheMoreRanksThereAre) {
  double before = 1;
  for (const std::int32_t ranks : {16, 128, 1024}) {
    const goal::Graphs graphs = steps(ranks, 10, CollectiveKind::barrier, "dissemination");
    double mean = 0; // of few ranks none may meet a pulse
    constexpr int seeds = 8;
    for (int seed = 1; seed <= seeds; ++seed) {
      NoiseModel noise = long_pulses;
      noise.seed = static_cast<std::uint64_t>(seed);
      mean += slowdown(graphs, noise) / seeds;
    }
    EXPECT_GT(mean, before);
    before = mean;
  }
}

TEST(NoiseAtScale, OnOneNodeOrAtTheSameTimesTheyHurtLittle) {
  const goal::Graphs graphs = steps(256, 40, CollectiveKind::barrier, "dissemination");
  NoiseModel some = long_pulses, together = long_pulses;
  some.every = 256, together.cosched = true;
  const double of_all = slowdown(graphs, long_pulses), of_one = slowdown(graphs, some);
  const double of_together = slowdown(graphs, together);
  EXPECT_GT(of_all, 2);
  EXPECT_LT(of_one, 1.15); // one pulse in 40 ms at most
  EXPECT_LT(of_together, 1.15);
}

// Where the noise decides, a network ten times as fast changes little.
TEST(NoiseAtScale, AFasterNetworkDoesNotHelp) {
  const goal::Graphs graphs = steps(512, 10, CollectiveKind::barrier, "dissemination");
  EngineOptions options;
  options.noise = long_pulses;
  const auto slow = run(graphs, *parse_parameters("L=10000,o=500,g=500,G=1,S=65536", {}), options);
  const auto fast = run(graphs, *parse_parameters("L=1000,o=50,g=50,G=0.1,S=65536", {}), options);
  ASSERT_TRUE(slow && fast);
  EXPECT_LT(static_cast<double>(slow->last) / static_cast<double>(fast->last), 1.1);
}

} // namespace
} // namespace kumihimo::loggp
