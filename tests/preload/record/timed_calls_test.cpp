#include "record/timed_calls.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

using namespace kumihimo::record;

namespace {

struct Estimate {
  double ns = 0, exact_ns = 0, error_ns = 0;
  std::int64_t calls = 0, timed = 0, represented = 0;
};

// A call site with calls of these times.
Estimate estimate(std::int64_t calls, std::uint64_t seed, const std::function<std::int64_t(std::int64_t)>& ns_of) {
  TimedCalls timed(seed);
  Estimate all{0, 0, 0, calls};
  for (std::int64_t call = 0; call < calls; ++call) {
    const std::int64_t ns = ns_of(call);
    all.exact_ns += static_cast<double>(ns);
    if (!timed.times(call)) continue;
    const std::int64_t represents = timed.note(call, ns);
    all.represented += represents;
    all.ns += static_cast<double>(represents * ns);
  }
  all.timed = timed.calls(), all.error_ns = timed.error_ns().value_or(-1);
  return all;
}

std::int64_t exponential(std::mt19937_64& random, double mean) {
  return static_cast<std::int64_t>(std::exponential_distribution<double>(1 / mean)(random));
}

TEST(TimedCalls, TimeTheFirstCallsAndOneOfEachGroupAfterThem) {
  TimedCalls timed(7);
  for (std::int64_t call = 0; call < 64; ++call) {
    ASSERT_TRUE(timed.times(call));
    ASSERT_EQ(timed.note(call, 100), 1);
  }
  for (std::int64_t group = 4; group < 1000; ++group) {
    int taken = 0;
    for (std::int64_t call = 16 * group; call < 16 * group + 16; ++call) {
      ASSERT_EQ(timed.times(call), timed.times(call)) << "asked twice";
      if (!timed.times(call)) continue;
      ASSERT_EQ(timed.note(call, 100), 16);
      ++taken;
    }
    ASSERT_EQ(taken, 1) << group;
  }
  EXPECT_EQ(timed.error_ns().value_or(-1), 0) << "equal times have no spread";
}

TEST(TimedCalls, OneSampleTellsNoError) {
  const Estimate all = estimate(80, 7, [](std::int64_t) { return 10; });
  EXPECT_EQ(all.timed, 65);
  EXPECT_EQ(all.error_ns, -1);
}

TEST(TimedCalls, TimeAllLongCalls) {
  const Estimate all = estimate(10'000, 7, [](std::int64_t) { return 1000; });
  EXPECT_EQ(all.timed, all.calls);
  EXPECT_EQ(all.ns, all.exact_ns);
  EXPECT_EQ(all.error_ns, 0);
}

TEST(TimedCalls, TimeAllCallsForAWhileAfterALongOne) {
  TimedCalls timed(7);
  std::int64_t call = 0;
  const auto step = [&](std::int64_t ns) {
    const bool is = timed.times(call);
    const std::int64_t represents = is ? timed.note(call, ns) : 0;
    ++call;
    return represents;
  };
  while (call < 160) step(100);
  while (step(5000) == 0) {
  } // one that is in the sample
  const std::int64_t end_of_group = (call + 15) / 16 * 16, from = call - 1;
  while (call < end_of_group) EXPECT_EQ(step(100), 0) << "the group has had its call";
  while (call < from + 64) ASSERT_EQ(step(100), 1);
  while (call % 16 != 0) ASSERT_EQ(step(100), 1) << "a mode changes between groups only";
  int taken = 0;
  for (int i = 0; i < 160; ++i) taken += step(100) == 16;
  EXPECT_EQ(taken, 10);
}

// Loops of up to 40 calls: each of them is taken equally often.
TEST(TimedCalls, TakeEachCallOfALoop) {
  for (std::int64_t period = 1; period <= 40; ++period) {
    constexpr std::int64_t calls = 400'000;
    const Estimate all = estimate(calls, 7, [&](std::int64_t call) { return call % period == 0 ? 900 : 100; });
    EXPECT_NEAR(all.ns / all.exact_ns, 1, 0.03) << period;
    EXPECT_NEAR(static_cast<double>(all.represented), calls, 16);
  }
}

// The mean over many seeds is the exact sum, and the deviation is at most the error that is written: short calls, short
// ones with a few long ones, and a site whose calls become longer.
TEST(TimedCalls, EstimateWithoutBiasAndTellTheirError) {
  constexpr std::int64_t calls = 20'000;
  constexpr int seeds = 400;
  const std::function<std::int64_t(std::mt19937_64&, std::int64_t)> programs[] = {
      [](std::mt19937_64& random, std::int64_t) { return 50 + exponential(random, 100); },
      [](std::mt19937_64& random, std::int64_t) { return random() % 1000 == 0 ? 30'000 : exponential(random, 100); },
      [](std::mt19937_64& random, std::int64_t call) {
        return exponential(random, 50.0 + static_cast<double>(call) / 20);
      },
  };
  for (const auto& program : programs) {
    std::mt19937_64 random(5);
    std::vector<std::int64_t> times;
    for (std::int64_t call = 0; call < calls; ++call) times.push_back(program(random, call));
    double sum = 0, squares = 0, told = 0, exact = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const Estimate all =
          estimate(calls, seed, [&](std::int64_t call) { return times[static_cast<std::size_t>(call)]; });
      exact = all.exact_ns;
      sum += all.ns - exact, squares += (all.ns - exact) * (all.ns - exact), told += all.error_ns * all.error_ns;
    }
    const double deviation = std::sqrt(squares / seeds);
    EXPECT_GT(deviation, 0);
    EXPECT_LT(std::abs(sum / seeds), 4 * deviation / std::sqrt(seeds)) << "biased, exact " << exact;
    EXPECT_LT(deviation, 1.15 * std::sqrt(told / seeds));
    EXPECT_GT(deviation, 0.6 * std::sqrt(told / seeds)) << "the error is too large to be of use";
  }
}

} // namespace
