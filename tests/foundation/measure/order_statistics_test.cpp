// Ranks and quantiles against values worked by hand or tabulated, and the coverage they promise against simulation.
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace kumihimo::measure {
namespace {

// n -> ranks, from tables of the binomial distribution: for n = 9, 2 P(B < 2) = 2 (1 + 9) / 512 = 3.9 %, but
// 2 P(B < 3) = 2 (1 + 9 + 36) / 512 = 18 %.
TEST(MedianRanks, equal_values_worked_by_hand) {
  const std::vector<std::array<std::int64_t, 3>> table = {
      {6, 1, 6}, {7, 1, 7}, {8, 1, 8}, {9, 2, 8}, {10, 2, 9}, {11, 2, 10}, {12, 3, 10}, {20, 6, 15}, {30, 10, 21}};
  for (const auto& [n, low, high] : table) {
    const MedianRanks ranks = median_ranks(n);
    EXPECT_EQ(ranks.low, low) << n;
    EXPECT_EQ(ranks.high, high) << n;
    EXPECT_GE(ranks.coverage, 0.95) << n;
  }
}

TEST(MedianRanks, state_the_coverage_of_few_samples) {
  EXPECT_DOUBLE_EQ(median_ranks(1).coverage, 0.0);
  EXPECT_DOUBLE_EQ(median_ranks(2).coverage, 0.5);
  EXPECT_DOUBLE_EQ(median_ranks(5).coverage, 1 - 2.0 / 32);
  EXPECT_DOUBLE_EQ(median_ranks(9).coverage, 1 - 2 * (1 + 9) / 512.0);
}

TEST(MedianRanks, follow_the_formula_for_many_samples) {
  // n = 400: sqrt = 20, z sqrt = 39.199..: floor(180.4) = 180, ceil(1 + 219.6) = 221.
  EXPECT_EQ(median_ranks(400).low, 180);
  EXPECT_EQ(median_ranks(400).high, 221);
}

TEST(MedianRanks, are_symmetric_and_the_narrowest) {
  for (std::int64_t n = 6; n <= 200; ++n) {
    const MedianRanks ranks = median_ranks(n);
    EXPECT_EQ(ranks.low + ranks.high, n + 1);
    double tail = 0; // P(B <= low): what the next narrower interval would leave out on one side
    for (std::int64_t k = 0; k <= ranks.low; ++k)
      tail += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) -
                       static_cast<double>(n) * std::log(2.0));
    EXPECT_LT(1 - 2 * tail, 0.95) << n;
  }
}

TEST(MedianInterval, covers_the_median_as_often_as_it_says) {
  std::mt19937_64 random(20);
  std::lognormal_distribution<double> skewed(0.0, 1.5); // median 1
  for (int n : {6, 9, 25, 250}) {
    const int trials = 20000;
    int covered = 0;
    for (int t = 0; t < trials; ++t) {
      std::vector<double> x(static_cast<std::size_t>(n));
      for (double& v : x) v = skewed(random);
      std::ranges::sort(x);
      const Interval interval = median_interval(x);
      covered += interval.low <= 1.0 && 1.0 <= interval.high;
    }
    const double share = covered / static_cast<double>(trials), promised = median_ranks(n).coverage;
    EXPECT_GE(share, promised - 0.006) << n;                      // four standard deviations of the simulation
    EXPECT_LE(share, promised + (n <= 200 ? 0.006 : 0.016)) << n; // the approximation errs to the safe side
  }
}

TEST(QuantileRanks, are_those_of_the_median) {
  for (std::int64_t n = 6; n <= 200; ++n) {
    EXPECT_EQ(quantile_ranks(n, 0.5).low, median_ranks(n).low) << n;
    EXPECT_EQ(quantile_ranks(n, 0.5).high, median_ranks(n).high) << n;
  }
}

// 0.95^72 = 2.49 %: with 72 samples all of them lie below the 95th percentile that often, so that the largest is an
// upper end; with 71 samples 2.62 %.
TEST(QuantileRanks, have_no_end_where_no_sample_is_far_enough_out) {
  EXPECT_EQ(quantile_ranks(71, 0.95).high, 0);
  EXPECT_EQ(quantile_ranks(72, 0.95).high, 72);
  EXPECT_GT(quantile_ranks(71, 0.95).low, 0);
  EXPECT_EQ(quantile_ranks(5, 0.5).low, 0);
  EXPECT_TRUE(std::isinf(quantile_interval(std::vector<double>{1, 2, 3}, 0.95).high));
}

TEST(QuantileInterval, covers_the_quantile_as_often_as_it_says) {
  std::mt19937_64 random(21);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (const double p : {0.5, 0.9, 0.95})
    for (const int n : {80, 250}) {
      int above = 0, below = 0;
      const int trials = 20000;
      for (int t = 0; t < trials; ++t) {
        std::vector<double> x(static_cast<std::size_t>(n));
        for (double& v : x) v = uniform(random);
        std::ranges::sort(x);
        const Interval interval = quantile_interval(x, p);
        above += interval.low > p;
        below += interval.high < p;
      }
      EXPECT_LE(above / static_cast<double>(trials), 0.0295) << n << " " << p; // four standard deviations above 2.5 %
      EXPECT_LE(below / static_cast<double>(trials), 0.0295) << n << " " << p;
    }
}

TEST(Quantile, is_linear_between_samples) {
  const std::vector<double> x = {1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile(x, 0.0), 1);
  EXPECT_DOUBLE_EQ(quantile(x, 1.0), 8);
  EXPECT_DOUBLE_EQ(median(x), 3);
  EXPECT_DOUBLE_EQ(quantile(x, 0.9), 4 + 0.7 * 4);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{5}), 5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{1, 2, 9}), 2);
}

} // namespace
} // namespace kumihimo::measure
