#include "record/wait_time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

using namespace kumihimo::record;

namespace {

TEST(Sampling, TakesTheFirstCallsAndAsManyOfEachDoubling) {
  for (std::uint64_t call = 0; call < 256; ++call) EXPECT_EQ(weight_of(call), 1u);
  for (std::uint64_t from = 256; from < (1u << 20); from *= 2) {
    int taken = 0;
    for (std::uint64_t call = from; call < 2 * from; ++call) taken += weight_of(call) != 0;
    EXPECT_EQ(taken, 128) << "of " << from << " to " << 2 * from;
  }
}

// A program that waits 90 % of each of its first 10,000 calls, and 10 % of each of the 990,000 after them.
TEST(Sampling, WeighsCallsSoThatTheFirstAreNoMore) {
  constexpr std::uint64_t calls = 1'000'000, first = 10'000;
  double waiting = 0, all = 0;
  for (std::uint64_t call = 0; call < calls; ++call) {
    const auto weight = static_cast<double>(weight_of(call));
    all += weight;
    waiting += weight * (call < first ? 0.9 : 0.1);
  }
  EXPECT_NEAR(waiting / all, 0.108, 0.001);
  EXPECT_NEAR(all, calls, 0.01 * calls) << "each call is stood for";
}

// Loops of up to 16 calls on one communicator.
TEST(Sampling, TakesEachCallOfALoop) {
  for (std::uint64_t period = 1; period <= 16; ++period) {
    std::vector<double> weights(period);
    for (std::uint64_t call = 0; call < 400'000; ++call) weights[call % period] += static_cast<double>(weight_of(call));
    const double deviation = std::sqrt(static_cast<double>(period - 1) / 340); // of as many samples, by their weights
    for (const double weight : weights)
      EXPECT_NEAR(weight * static_cast<double>(period) / 400'000, 1, 5 * deviation + 0.01) << period;
  }
}

TEST(Split, OfOneThatLeavesBeforeTheOtherIsNoWaiting) {
  EXPECT_EQ(split_of(100, 200, 900, true).waiting_ns, 0);
  EXPECT_EQ(split_of(100, 200, 900, true).transferring_ns, 100);
  EXPECT_EQ(split_of(100, 200, 150, true).waiting_ns, 50) << "it was there until the other came";
}

TEST(Split, IsWholeAndNeverNegative) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> time(-1'000'000, 1'000'000);
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t entry = time(random), exit = entry + std::abs(time(random)), last = time(random);
    const Split split = split_of(entry, exit, last);
    EXPECT_EQ(split.waiting_ns + split.transferring_ns, exit - entry);
    EXPECT_GE(split.waiting_ns, 0);
    EXPECT_GE(split.transferring_ns, 0);
    if (last <= entry) {
      EXPECT_EQ(split.waiting_ns, 0) << "who comes last waits for nobody";
    }
  }
  EXPECT_EQ(split_of(100, 200, 130).waiting_ns, 30);
  EXPECT_EQ(split_of(100, 200, 900).waiting_ns, 100) << "who has left does not wait any more";
}

} // namespace
