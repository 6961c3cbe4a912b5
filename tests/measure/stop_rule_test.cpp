#include "measure/stop_rule.hpp"
#include "measure/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace kumihimo::measure {
namespace {

TEST(StopRule, waits_for_enough_samples_however_equal_they_are) {
  const StopRule rule;
  for (std::size_t n = 0; n < 6; ++n)
    EXPECT_EQ(decide(rule, std::vector<double>(n, 1.0)), StopDecision::sample_on) << n;
  EXPECT_EQ(decide(rule, std::vector<double>(6, 1.0)), StopDecision::precise_enough);
}

TEST(StopRule, looks_only_every_few_samples) {
  const StopRule rule{.check_every = 4};
  EXPECT_EQ(decide(rule, std::vector<double>(7, 1.0)), StopDecision::sample_on);
  EXPECT_EQ(decide(rule, std::vector<double>(9, 1.0)), StopDecision::sample_on);
  EXPECT_EQ(decide(rule, std::vector<double>(10, 1.0)), StopDecision::precise_enough);
}

TEST(StopRule, gives_up_at_the_limit) {
  const StopRule rule{.relative_error = 0.001, .at_most = 8};
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(decide(rule, std::span(x).first(7)), StopDecision::sample_on);
  EXPECT_EQ(decide(rule, x), StopDecision::too_many);
}

TEST(StopRule, needs_both_ends_of_the_interval_near_the_median) {
  const StopRule rule{.relative_error = 0.1};
  EXPECT_EQ(decide(rule, std::vector<double>{95, 100, 100, 100, 100, 105}), StopDecision::precise_enough);
  EXPECT_EQ(decide(rule, std::vector<double>{80, 100, 100, 100, 100, 105}), StopDecision::sample_on);
  EXPECT_EQ(decide(rule, std::vector<double>{95, 100, 100, 100, 100, 120}), StopDecision::sample_on);
}

// More noise takes more samples, and the error that was asked for is kept.
TEST(StopRule, reaches_the_precision_asked_for) {
  std::mt19937_64 random(3);
  std::int64_t previous = 0;
  for (double noise : {0.02, 0.2, 0.6}) {
    std::lognormal_distribution<double> time(0.0, noise);
    const StopRule rule{.relative_error = 0.05, .at_most = 100000};
    std::vector<double> x;
    while (decide(rule, x) == StopDecision::sample_on) x.push_back(time(random));
    const Summary s = summarise(x);
    EXPECT_LE(s.median_interval.high / s.median - 1, 0.05 + 1e-12);
    EXPECT_GT(s.samples, previous);
    EXPECT_LE(std::abs(s.median - 1.0), 0.1); // the true median
    previous = s.samples;
  }
}

} // namespace
} // namespace kumihimo::measure
