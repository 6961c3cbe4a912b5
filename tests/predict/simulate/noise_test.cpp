// Noise: which events a step meets, against stepping from event to event; and what the exact model makes of it.
#include "machine/job.hpp"
#include "machine/load.hpp"
#include "program/builder.hpp"
#include "program/named_programs.hpp"
#include "simulate/noise.hpp"
#include "simulate/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

namespace kumihimo {
namespace {

// The plain version: from one event to the next.
double end_by_steps(const Noise& noise, std::int32_t rank, double start, double seconds) {
  const double period = 1 / noise.events_per_second;
  double event = noise_phase(noise, rank), now = start;
  while (event > start) event -= period;
  for (;; event += period) {
    if (now < event) {
      const double done = std::min(seconds, event - now);
      seconds -= done, now += done;
      if (seconds <= 0) return now;
    }
    now = std::max(now, event + noise.seconds);
  }
}

TEST(Noise, MeetsTheEventsThatFallIntoAStep) {
  std::mt19937_64 random(1);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int i = 0; i < 20000; ++i) {
    Noise noise;
    noise.events_per_second = between(1, 1000);
    noise.seconds = between(0, 0.9) / noise.events_per_second;
    noise.seed = random();
    const auto rank = static_cast<std::int32_t>(random() % 512);
    const double start = between(0, 1), seconds = between(0, 20) / noise.events_per_second;
    ASSERT_NEAR(start + seconds + seconds_lost(noise, rank, start, seconds), end_by_steps(noise, rank, start, seconds),
                1e-9)
        << noise.events_per_second << " x " << noise.seconds;
  }
}

TEST(Noise, TakesItsShareOfALongTime) {
  const Noise noise{1000, 100e-6, 7, {}};
  for (std::int32_t rank = 0; rank < 100; ++rank) EXPECT_NEAR(seconds_lost(noise, rank, 3, 9), 1, 101e-6);
}

TEST(Noise, PhasesAreSpreadOverThePeriodAndDependOnTheSeed) {
  const Noise noise{10, 2.5e-3, 1, {}}, other{10, 2.5e-3, 2, {}};
  double sum = 0;
  for (std::int32_t rank = 0; rank < 1000; ++rank) {
    const double phase = noise_phase(noise, rank);
    EXPECT_GE(phase, 0);
    EXPECT_LT(phase, 0.1);
    EXPECT_EQ(phase, noise_phase(noise, rank));
    EXPECT_NE(phase, noise_phase(other, rank));
    sum += phase;
  }
  EXPECT_NEAR(sum / 1000, 0.05, 4 * 0.1 / std::sqrt(12.0 * 1000)); // four standard deviations of the mean
}

TEST(Noise, NoneTakesNoTime) {
  for (const Noise& none : {Noise{0, 1e-4, 1, {}}, Noise{1000, 0, 1, {}}, Noise{1000, 1e-4, 1, 3}})
    EXPECT_EQ(seconds_lost(none, 2, 0.5, 0.25), 0);
}

TEST(Noise, SaysWhatDoesNotFit) {
  EXPECT_TRUE(check({1000, 1e-4, 1, {}}).ok());
  EXPECT_NE(check({-1, 1e-4, 1, {}}).error().sentence().find("0 or more (got -1)"), std::string::npos);
  EXPECT_NE(check({1, -2, 1, {}}).error().sentence().find("0 or more (got -2)"), std::string::npos);
  EXPECT_NE(check({1000, 1e-3, 1, {}}).error().sentence().find("at most 0.9 (got 1)"), std::string::npos);
}

Job reedbush(std::int32_t nodes) {
  const std::filesystem::path folder = KUMIHIMO_MACHINES;
  const Machine machine = *load_machine("reedbush-u", std::span(&folder, 1));
  return *Job::with_ranks_per_node(*machine.with_shape(*Shape::parse(std::to_string(nodes))), 1);
}

// Each rank computes for 10 ms.
ProgramSet computing(std::int32_t ranks) {
  ProgramSet set;
  set.data = one_buffer(ranks, 1);
  set.program = [](Rank) {
    Program program;
    LaneBuilder lane(LaneId{0}, "computing", 1);
    lane.step(kumihimo::compute(Work{10e-3, 0, 0}));
    program.lanes.push_back(lane.take());
    return program;
  };
  return set;
}

TEST(Noise, LengthensComputeSteps) {
  SimulateOptions options;
  options.model = Model::exact;
  options.noise = Noise{100, 2e-3, 5, {}};
  double longest = 0;
  for (std::int32_t rank = 0; rank < 8; ++rank)
    longest = std::max(longest, 10e-3 + seconds_lost(*options.noise, rank, 0, 10e-3));
  const auto found = simulate(computing(8), reedbush(8), {}, options);
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_NEAR(found->seconds.value, longest, 1e-12);
  EXPECT_GE(longest, 12e-3);

  options.model = Model::flow;
  const auto flow = simulate(computing(8), reedbush(8), {}, options);
  ASSERT_FALSE(flow.ok());
  EXPECT_NE(flow.error().sentence().find("use --model exact"), std::string::npos) << flow.error().sentence();
}

} // namespace
} // namespace kumihimo
