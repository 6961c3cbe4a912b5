// Some rounds stand for all: the figure is that of all rounds within a few percent, and says what it is.
#include "simulate/flow/sampling.hpp"
#include "support.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kumihimo::simulate_test {
namespace {

struct Long {
  CollectiveKind kind;
  const char *algorithm, *shape;
  std::optional<std::int64_t> throttle;
  std::optional<std::int64_t> send_window = {}, receive_window = {};
};

constexpr const char* one_by_one_caveat = "the slowest rank of a few rounds is slower than that of all";
constexpr const char* at_once_caveat = "sampled rounds overlap differently than all rounds do: up to a third off";
constexpr const char* beside_caveat = "sampled rounds of parallel lanes overlap differently: up to a third off";

// The interval says of what it is, and what it leaves out.
void expect_told(const SchedulePrediction& some, const std::string& caveat) {
  const auto told = *some.sampled;
  EXPECT_EQ(told.leaves_out.find(caveat), 0) << told.leaves_out;
  EXPECT_EQ(some.accuracy.find(
                fmt::format("{} samples of {} of the {} rounds (seed 1): 95 % interval of their mean {:.3g} to "
                            "{:.3g} s; the interval does not cover this: {}",
                            told.samples, told.rounds, told.of, told.low.value, told.high.value, told.leaves_out)),
            0)
      << some.accuracy;
  const auto json = nlohmann::json::parse(to_json(some))["sampled"];
  EXPECT_EQ(json["samples"], told.samples);
  EXPECT_EQ(json["rounds"], told.rounds);
  EXPECT_EQ(json["of"], told.of);
  EXPECT_EQ(json["seconds_low"], told.low.value);
  EXPECT_EQ(json["seconds_high"], told.high.value);
  EXPECT_EQ(json["leaves_out"], told.leaves_out);
  EXPECT_GE(told.low, some.bound());
}

// Latency is what the other parts leave: none is negative, and each is near that of all rounds.
void expect_parts_near(const SchedulePrediction& some, const SchedulePrediction& all, double off) {
  EXPECT_GE(some.latency.value, 0);
  const double most = off * all.seconds.value;
  EXPECT_NEAR(some.latency.value, all.latency.value, most);
  EXPECT_NEAR(some.transfer.value, all.transfer.value, most);
  EXPECT_NEAR(some.reduction.value, all.reduction.value, most);
}

class Sampled : public ::testing::TestWithParam<Long> {};

TEST_P(Sampled, RoundsStandForAll) {
  const auto& [kind, name, shape, throttle, send_window, receive_window] = GetParam();
  const Machine m = lopsided(job_on("k-computer", shape));
  Parameters parameters;
  parameters.throttle = throttle, parameters.send_window = send_window, parameters.receive_window = receive_window;
  const Schedule s = built(algorithm(name, kind), m, std::int64_t{64} << 10, parameters);
  SimulateOptions options;
  options.keep_link_bytes = true;
  const SchedulePrediction all = *simulate(s, m, {}, options);
  ASSERT_FALSE(all.sampled);
  options.most_steps = 200.0 * 2 * s.ranks(); // 200 rounds of a send and a receive
  const SchedulePrediction some = *simulate(s, m, {}, options);
  ASSERT_TRUE(some.sampled);
  EXPECT_GE(some.sampled->of, s.ranks() - 2);
  EXPECT_EQ(some.sampled->samples, 6);
  EXPECT_GE(some.sampled->rounds, 4);
  EXPECT_LE(some.sampled->rounds, receive_window ? 66 : 33); // 200 in all samples; of windows, of half of the steps
  const bool one_by_one = std::string_view(name) == "pairwise";
  EXPECT_NEAR(some.seconds.value / all.seconds.value, 1, one_by_one ? 0.05 : 1 / 3.0);
  expect_told(some, one_by_one ? one_by_one_caveat : at_once_caveat);
  expect_parts_near(some, all, one_by_one ? 0.05 : 1 / 3.0);
  EXPECT_NEAR(some.link_bytes_sum / all.link_bytes_sum, 1, 0.05);
  EXPECT_NEAR(some.compute.value, all.compute.value, 0.03 * all.compute.value);
  if (one_by_one) {
    EXPECT_LT(some.sampled->low, all.seconds) << "the interval has the figure of all rounds";
    EXPECT_LT(all.seconds, some.sampled->high);
  }
  EXPECT_LE(some.sampled->low, some.seconds);
  EXPECT_LT(some.seconds, some.sampled->high);
  EXPECT_LT(some.sampled->high.value - some.sampled->low.value, (one_by_one ? 0.15 : 0.5) * some.seconds.value);
  EXPECT_NE(to_json(all).find("\"sampled\":null"), std::string::npos);
  const SchedulePrediction again = *simulate(s, m, {}, options);
  EXPECT_EQ(again.seconds, some.seconds) << "the seed is given";
}

INSTANTIATE_TEST_SUITE_P(Simulate, Sampled,
                         ::testing::Values(Long{CollectiveKind::alltoall, "pairwise", "8x6x8", {}},
                                           Long{CollectiveKind::alltoall, "pairwise", "20x18", {}},
                                           Long{CollectiveKind::alltoall, "linear", "8x6x8", 4},
                                           Long{CollectiveKind::alltoall, "linear", "8x6x8", {}},
                                           Long{CollectiveKind::alltoall, "linear", "8x6x8", {}, {}, 2},
                                           Long{CollectiveKind::alltoall, "linear", "8x6x8", {}, 3, 1},
                                           Long{CollectiveKind::reduce_scatter, "pairwise", "8x6x8", {}}),
                         [](const auto& test) {
                           return std::string(name_of(test.param.kind)) + "_" + test.param.algorithm + "_" +
                                  test.param.shape + (test.param.throttle ? "_throttled" : "") +
                                  (test.param.receive_window ? "_windows" : "") +
                                  (test.param.send_window ? "_apart" : "");
                         });

// Several loops, one after another or beside each other: of lanes that follow, of a lane.
struct Several {
  CollectiveKind kind;
  const char *algorithm, *shape;
  double steps; // of all that may be walked
  double off;   // the most that the figure may be off
  const char* leaves_out;
};

class SeveralLoops : public ::testing::TestWithParam<Several> {};

TEST_P(SeveralLoops, AreSampledEach) {
  const auto& [kind, name, shape, steps, off, leaves_out] = GetParam();
  const Machine m = lopsided(job_on("k-computer", shape));
  for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{64} << 10}) {
    const Schedule s = built(algorithm(name, kind), m, bytes);
    SimulateOptions options;
    options.keep_link_bytes = true;
    const SchedulePrediction all = *simulate(s, m, {}, options);
    ASSERT_FALSE(all.sampled);
    options.most_steps = steps * s.ranks();
    const SchedulePrediction some = *simulate(s, m, {}, options);
    ASSERT_TRUE(some.sampled);
    EXPECT_LT(some.sampled->samples * some.sampled->rounds, some.sampled->of);
    EXPECT_NEAR(some.seconds.value / all.seconds.value, 1, off) << bytes;
    EXPECT_NEAR(some.link_bytes_sum / all.link_bytes_sum, 1, 0.05);
    expect_parts_near(some, all, off);
    EXPECT_NEAR(some.compute.value, all.compute.value, 0.03 * all.compute.value);
    expect_told(some, leaves_out);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Simulate, SeveralLoops,
    ::testing::Values(Several{CollectiveKind::alltoall, "two_phase", "28x30", 60, 1 / 3.0, at_once_caveat},
                      Several{CollectiveKind::alltoall, "three_phase", "26x4x28", 60, 1 / 3.0, at_once_caveat},
                      Several{CollectiveKind::alltoall, "paced", "48x30", 1, 0.2, beside_caveat},
                      Several{CollectiveKind::allreduce, "pairwise", "8x6x8", 400, 0.05, at_once_caveat}),
    [](const auto& test) {
      return std::string(name_of(test.param.kind)) + "_" + test.param.algorithm + "_" + test.param.shape;
    });

// A sample of a loop with constant peers would say nothing new.
TEST(Sampled, WhatASampleWouldNotStandForIsWalkedWhole) {
  SimulateOptions options;
  options.most_steps = 1;
  const Machine m = job_on("k-computer", "4x6x4");
  for (const auto& [kind, name] :
       {std::pair{CollectiveKind::allgather, "ring"}, std::pair{CollectiveKind::allgather, "rotated_rings"},
        std::pair{CollectiveKind::alltoall, "paced"}}) {
    const SchedulePrediction p = *simulate(built(algorithm(name, kind), m, 1 << 16), m, {}, options);
    EXPECT_FALSE(p.sampled) << name;
  }
}

// Ranks 0 and 1 come into the loop 3 ms after the others, by transfers that are not on the path: this leads through the
// loops of the others, of which 2 and 3 send to 0 and 1 after 4 ms.
TEST(Sampled, PartsBeforeALoopAreNotOfAPathThatCameIntoItEarlier) {
  const Schedule s = by_hand(8, 4 * million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "all", 1);
    for (int i = 0; i < 3 && r < 2; ++i) lane.step(r == 0 ? send(1, out[part(0, 4)]) : receive(0, out[part(0, 4)]));
    lane.loop(60, [=](BodyBuilder& b, Variable i) {
      if (r < 2) return b.step(receive(2 + mod(r + i, 2), out[part(0, million)]));
      const Expression distance = 1 + 4 * mod(i, 2); // a neighbour on either side
      b.round(exchange(2 + mod(r - 2 + distance, 6), out[whole()], 2 + mod(r - 2 - distance, 6), into(out[whole()])));
      if (r < 4) b.step(send(mod(r - 2 + i, 2), out[part(0, million)]));
    });
    p.add(std::move(lane));
  });
  const Machine m = plain("8");
  SimulateOptions options;
  const SchedulePrediction all = *simulate(s, m, {}, options);
  ASSERT_FALSE(all.sampled);
  options.most_steps = 1;
  const SchedulePrediction some = *simulate(s, m, {}, options);
  ASSERT_TRUE(some.sampled);
  EXPECT_LT(all.latency.value, 3e-3);
  EXPECT_NEAR(some.latency.value, all.latency.value, 0.3 * all.latency.value);
  expect_parts_near(some, all, 0.2);
}

// What is drawn as mirrored pairs has no run in the middle.
TEST(Sampled, MirroredRunsStayWhole) {
  const Schedule s = by_hand(8, 8, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "all", 2);
    lane.loop(
        23,
        [=](Variable i) {
          return exchange(mod(r + 1 + i, 8), out[part(0, 8)], mod(r - 1 - i, 8), into(out[part(1, 8)]));
        },
        2);
    p.add(std::move(lane));
  });
  const auto plan = simulation::plan_sampling(*simulation::compile(s, {}), 200);
  ASSERT_EQ(plan.loops.size(), 1);
  EXPECT_TRUE(plan.mirrored);
  EXPECT_EQ(plan.loops[0].walked(), 4);
  EXPECT_EQ(plan.loops[0].run, 1) << "a run of 4 has the middle in it";
}

// Every round of so many messages at once would take all memory there is.
TEST(Sampled, WhatNoMemoryHoldsIsRefused) {
  const Machine m = lopsided(job_on("k-computer", "24x18x7"));
  SimulateOptions options;
  options.without.add(FlowStage::sampling);
  const Schedule s = built(algorithm("linear", CollectiveKind::alltoall), m, 1 << 10);
  const auto p = simulate(s, m, {}, options);
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(
      p.error().sentence(),
      "the simulation keeps at most 16 million steps in flight at once (got 18 million); leave --without sampling out, "
      "use fewer messages at once (--throttle) or fewer ranks");
  options = {.most_steps = 1e9}; // a sample was not refused
  EXPECT_EQ(
      simulate(s, m, {}, options).error().sentence(),
      "the simulation keeps at most 16 million steps in flight at once (got 18 million); use fewer messages at once "
      "(--throttle) or fewer ranks");
}

// Lanes that follow one another are not in flight together.
TEST(Sampled, OnlyLanesOfOnePhaseAreHeldAtOnce) {
  const std::int64_t rounds = 2'000'000;
  const Schedule s = by_hand(8, 8, 1, [=](std::int32_t r, ProgramBuilder& p) {
    for (std::int32_t l = 0; l < 2; ++l) {
      LaneBuilder lane(LaneId{l}, "all", rounds);
      lane.loop(
          rounds,
          [&](Variable i) {
            return exchange(mod(r + 1 + i, 8), out[part(0, 8)], mod(r - 1 - i, 8), into(out[part(1, 8)]));
          },
          rounds);
      if (l > 0) lane.after({LaneId{0}}, Scope::all);
      p.add(std::move(lane));
    }
  });
  SimulateOptions options;
  options.without.add(FlowStage::sampling);
  const auto p = simulate(s, plain("8"), {}, options);
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.error().sentence().find("got 32 million"), std::string::npos) << p.error().sentence();
}

} // namespace
} // namespace kumihimo::simulate_test
