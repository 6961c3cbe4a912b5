// Some rounds stand for all: the figure is that of all rounds within a few percent, and says what it is.
#include "support.hpp"

#include <limits>

namespace kumihimo::simulate_test {
namespace {

struct Long {
  CollectiveKind kind;
  const char *algorithm, *shape;
  std::optional<std::int64_t> throttle;
};

class Sampled : public ::testing::TestWithParam<Long> {};

TEST_P(Sampled, RoundsStandForAll) {
  const auto& [kind, name, shape, throttle] = GetParam();
  const Machine m = job_on("k-computer", shape);
  Parameters parameters;
  parameters.throttle = throttle;
  const Schedule s = built(algorithm(name, kind), m, std::int64_t{64} << 10, parameters);
  SimulateOptions options;
  options.keep_link_bytes = true;
  const Prediction all = *simulate(s, m, {}, options);
  ASSERT_FALSE(all.sampled);
  options.most_steps = 200.0 * 2 * s.ranks(); // 200 rounds of a send and a receive
  const Prediction some = *simulate(s, m, {}, options);
  ASSERT_TRUE(some.sampled);
  EXPECT_GE(some.sampled->of, s.ranks() - 2);
  EXPECT_GE(some.sampled->rounds, 24);
  EXPECT_LE(some.sampled->rounds, 200);
  const bool one_by_one = std::string_view(name) == "pairwise";
  EXPECT_NEAR(some.seconds.value / all.seconds.value, 1, one_by_one ? 0.05 : 1 / 3.0);
  EXPECT_EQ(some.accuracy.find("up to a third") == std::string::npos, one_by_one) << some.accuracy;
  EXPECT_NEAR(some.link_bytes_sum / all.link_bytes_sum, 1, 0.05);
  EXPECT_NEAR(some.compute.value, all.compute.value, 0.03 * all.compute.value);
  if (one_by_one) {
    EXPECT_LT(some.sampled->low, all.seconds) << "the interval has the figure of all rounds";
    EXPECT_LT(all.seconds, some.sampled->high);
  }
  EXPECT_LT(some.sampled->low, some.seconds);
  EXPECT_LT(some.seconds, some.sampled->high);
  EXPECT_LT(some.sampled->high.value - some.sampled->low.value, (one_by_one ? 0.15 : 0.5) * some.seconds.value);
  EXPECT_NE(some.accuracy.find("stand for all"), std::string::npos) << some.accuracy;
  EXPECT_NE(to_json(some).find("\"sampled\":{\"rounds\":"), std::string::npos);
  EXPECT_NE(to_json(all).find("\"sampled\":null"), std::string::npos);
  const Prediction again = *simulate(s, m, {}, options);
  EXPECT_EQ(again.seconds, some.seconds) << "the seed is given";
}

INSTANTIATE_TEST_SUITE_P(Simulate, Sampled,
                         ::testing::Values(Long{CollectiveKind::alltoall, "pairwise", "8x6x8", {}},
                                           Long{CollectiveKind::alltoall, "pairwise", "20x18", {}},
                                           Long{CollectiveKind::alltoall, "linear", "8x6x8", 4},
                                           Long{CollectiveKind::alltoall, "linear", "8x6x8", {}},
                                           Long{CollectiveKind::reduce_scatter, "pairwise", "8x6x8", {}}),
                         [](const auto& test) {
                           return std::string(name_of(test.param.kind)) + "_" + test.param.algorithm + "_" +
                                  test.param.shape + (test.param.throttle ? "_throttled" : "");
                         });

// Several loops, one after another or beside each other: of lanes that follow, of a lane.
struct Several {
  CollectiveKind kind;
  const char *algorithm, *shape;
  double steps; // of all that may be walked
  double off;   // the most that the figure may be off
};

class SeveralLoops : public ::testing::TestWithParam<Several> {};

TEST_P(SeveralLoops, AreSampledEach) {
  const auto& [kind, name, shape, steps, off] = GetParam();
  const Machine m = job_on("k-computer", shape);
  for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{64} << 10}) {
    const Schedule s = built(algorithm(name, kind), m, bytes);
    SimulateOptions options;
    options.keep_link_bytes = true;
    const Prediction all = *simulate(s, m, {}, options);
    ASSERT_FALSE(all.sampled);
    options.most_steps = steps * s.ranks();
    const Prediction some = *simulate(s, m, {}, options);
    ASSERT_TRUE(some.sampled);
    EXPECT_LT(some.sampled->rounds, some.sampled->of);
    EXPECT_NEAR(some.seconds.value / all.seconds.value, 1, off) << bytes;
    EXPECT_NEAR(some.link_bytes_sum / all.link_bytes_sum, 1, 0.05);
    EXPECT_NEAR(some.latency.value + some.transfer.value + some.reduction.value, some.seconds.value,
                1e-9 * some.seconds.value);
    EXPECT_NEAR(some.compute.value, all.compute.value, 0.03 * all.compute.value);
    EXPECT_NE(some.accuracy.find("stand for all"), std::string::npos) << some.accuracy;
  }
}

INSTANTIATE_TEST_SUITE_P(Simulate, SeveralLoops,
                         ::testing::Values(Several{CollectiveKind::alltoall, "two_phase", "28x30", 60, 1 / 3.0},
                                           Several{CollectiveKind::alltoall, "three_phase", "26x4x28", 60, 1 / 3.0},
                                           Several{CollectiveKind::alltoall, "paced", "48x30", 1, 0.2},
                                           Several{CollectiveKind::allreduce, "pairwise", "8x6x8", 400, 0.05}),
                         [](const auto& test) {
                           return std::string(name_of(test.param.kind)) + "_" + test.param.algorithm + "_" +
                                  test.param.shape;
                         });

// A sample of a loop with constant peers would say nothing new.
TEST(Sampled, WhatASampleWouldNotStandForIsWalkedWhole) {
  SimulateOptions options;
  options.most_steps = 1;
  const Machine m = job_on("k-computer", "4x6x4");
  for (const auto& [kind, name] :
       {std::pair{CollectiveKind::allgather, "ring"}, std::pair{CollectiveKind::allgather, "rotated_rings"},
        std::pair{CollectiveKind::alltoall, "paced"}}) {
    const Prediction p = *simulate(built(algorithm(name, kind), m, 1 << 16), m, {}, options);
    EXPECT_FALSE(p.sampled) << name;
  }
}

// Every round of so many messages at once would take all memory there is.
TEST(Sampled, WhatNoMemoryHoldsIsRefused) {
  const Machine m = job_on("k-computer", "24x18x16");
  SimulateOptions options;
  options.most_steps = std::numeric_limits<double>::infinity();
  const Schedule s = built(algorithm("linear", CollectiveKind::alltoall), m, 1 << 10);
  const auto p = simulate(s, m, {}, options);
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(
      p.error().sentence(),
      "expected a walk of at most 16 million steps in flight at once, found 96 million; let a sample of the rounds "
      "stand for all, have fewer messages at once (throttle), or fewer ranks");
}

} // namespace
} // namespace kumihimo::simulate_test
