// What the exact model makes of noise of the operating system (goal/noise.hpp).
#include "goal/noise.hpp"
#include "machine/job.hpp"
#include "machine/load.hpp"
#include "program/builder.hpp"
#include "program/named_programs.hpp"
#include "simulate/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace kumihimo {
namespace {

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

goal::NoiseModel every(goal::Time interval, goal::Time length, std::uint64_t seed) {
  goal::NoiseModel noise;
  noise.interval = interval, noise.length = length, noise.seed = seed;
  return noise;
}
constexpr goal::Time millisecond = 1'000'000'000;

TEST(NoiseInExact, LengthensComputeSteps) {
  SimulateOptions options;
  options.model = ScheduleModel::exact;
  options.noise = every(10 * millisecond, 2 * millisecond, 5);
  goal::Noise noise(*options.noise, 8);
  goal::Time longest = 0;
  for (std::int32_t rank = 0; rank < 8; ++rank)
    longest = std::max(longest, 10 * millisecond + noise.lost(rank, 0, 10 * millisecond));
  const auto found = simulate(computing(8), reedbush(8), {}, options);
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_NEAR(found->seconds.value, static_cast<double>(longest) * 1e-12, 1e-12);
  EXPECT_GE(longest, 12 * millisecond);

  options.model = ScheduleModel::flow;
  const auto flow = simulate(computing(8), reedbush(8), {}, options);
  ASSERT_FALSE(flow.ok());
  EXPECT_NE(flow.error().sentence().find("use --model exact"), std::string::npos) << flow.error().sentence();
}

TEST(NoiseInExact, ThatLeavesTooLittleOrIsOnOtherRanksIsRefused) {
  SimulateOptions options;
  options.model = ScheduleModel::exact;
  options.noise = every(millisecond, millisecond, 1);
  EXPECT_FALSE(simulate(computing(8), reedbush(8), {}, options).ok());
  options.noise = every(10 * millisecond, millisecond, 1);
  options.noise->ranks = {{8, 8}};
  EXPECT_FALSE(simulate(computing(8), reedbush(8), {}, options).ok());
}

} // namespace
} // namespace kumihimo
