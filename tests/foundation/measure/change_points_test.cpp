// Change points against the definition of the statistic, worked series, and how often noise alone shows one.
#include "measure/change_points.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace kumihimo::measure {
namespace {

double mean_distance(const std::vector<double>& x, const std::vector<double>& y, bool same) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < y.size(); ++j)
      if (!same || i != j) sum += std::sqrt(std::abs(x[i] - y[j]));
  const double pairs = static_cast<double>(x.size()) * static_cast<double>(same ? y.size() - 1 : y.size());
  return sum / pairs;
}

// The golden copy: every split by the definition, all pairs counted anew.
BestSplit golden_split(const std::vector<double>& values, std::size_t least) {
  BestSplit best;
  for (std::size_t t = least; t + least <= values.size(); ++t)
    for (std::size_t e = t + least; e <= values.size(); ++e) {
      if (e < values.size() && e - t < values.size() / 4) continue;
      const std::vector<double> x(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(t));
      const std::vector<double> y(values.begin() + static_cast<std::ptrdiff_t>(t),
                                  values.begin() + static_cast<std::ptrdiff_t>(e));
      const double n = static_cast<double>(x.size()), m = static_cast<double>(y.size());
      const double q =
          n * m / (n + m) * (2 * mean_distance(x, y, false) - mean_distance(x, x, true) - mean_distance(y, y, true));
      if (q > best.q) best = {static_cast<std::int64_t>(t), q};
    }
  return best;
}

// What runs of one program look like: a few percent of spread, and now and then one that is much slower.
std::vector<double> noisy(std::mt19937_64& random, std::size_t n, double spread = 0.01, double outliers = 0.03) {
  std::normal_distribution<double> normal(0.0, spread);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::vector<double> values(n);
  for (double& v : values) v = normal(random) + (uniform(random) < outliers ? 0.2 : 0.0);
  return values;
}

TEST(BestSplit, is_that_of_the_definition) {
  std::mt19937_64 random(1);
  for (const std::size_t n : {6u, 7u, 13u, 30u})
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<double> values = noisy(random, n);
      const BestSplit fast = best_split(values, 3), slow = golden_split(values, 3);
      EXPECT_NEAR(fast.q, slow.q, 1e-12);
      EXPECT_EQ(fast.at, slow.at);
    }
}

TEST(ChangePoints, are_none_in_short_and_in_constant_series) {
  EXPECT_TRUE(change_points(std::vector<double>{}).empty());
  EXPECT_TRUE(change_points(std::vector<double>{1, 1, 2, 2, 2}).empty());
  EXPECT_TRUE(change_points(std::vector<double>(40, 1.0)).empty());
}

TEST(ChangePoints, of_steps_are_found_where_they_are) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back((i < 12 ? 0.0 : i < 26 ? 1.0 : 0.4) + 0.01 * (i * 7 % 5));
  const std::vector<ChangePoint> found = change_points(values);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].at, 12);
  EXPECT_EQ(found[1].at, 26);
  EXPECT_LE(found[0].chance, 0.005);
}

TEST(ChangePoints, of_a_level_that_comes_and_goes_are_two) {
  std::mt19937_64 random(2);
  std::vector<double> values = noisy(random, 40);
  for (std::size_t i = 15; i < 25; ++i) values[i] += std::log(1.1);
  const std::vector<ChangePoint> found = change_points(values);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(static_cast<double>(found[0].at), 15, 1);
  EXPECT_NEAR(static_cast<double>(found[1].at), 25, 1);
}

TEST(ChangePoints, of_noise_alone_are_rare) {
  std::mt19937_64 random(3);
  int alarms = 0;
  for (int trial = 0; trial < 400; ++trial) alarms += !change_points(noisy(random, 30)).empty();
  EXPECT_LE(alarms, 7); // 0.5 % each: 7 or fewer with a probability of 99.9 %
}

TEST(ChangePoints, find_a_change_of_5_percent) {
  std::mt19937_64 random(4);
  int found = 0;
  const int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values = noisy(random, 30);
    const std::size_t at = 10 + random() % 11;
    for (std::size_t i = at; i < values.size(); ++i) values[i] += std::log(1.05);
    const auto changes = change_points(values);
    found += changes.size() == 1 && std::abs(changes[0].at - static_cast<std::int64_t>(at)) <= 1;
  }
  EXPECT_GE(found, trials * 95 / 100);
}

} // namespace
} // namespace kumihimo::measure
