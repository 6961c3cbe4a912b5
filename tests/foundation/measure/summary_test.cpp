#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kumihimo::measure {
namespace {

TEST(Summary, of_nine_values_worked_by_hand) {
  const std::vector<double> x = {5, 1, 9, 2, 8, 3, 7, 4, 100};
  const Summary s = summarise(x); // sorted 1 2 3 4 5 7 8 9 100
  EXPECT_EQ(s.samples, 9);
  EXPECT_DOUBLE_EQ(s.median, 5);
  EXPECT_DOUBLE_EQ(s.median_interval.low, 2);
  EXPECT_DOUBLE_EQ(s.median_interval.high, 9);
  EXPECT_DOUBLE_EQ(s.smallest, 1);
  EXPECT_DOUBLE_EQ(s.largest, 100);
  EXPECT_NEAR(s.p10, 1.8, 1e-12);
  EXPECT_NEAR(s.p90, 9 + 0.2 * 91, 1e-12);
  EXPECT_NEAR(s.p99, 9 + 0.92 * 91, 1e-12);
  EXPECT_EQ(s.outliers, 1); // quartiles 3 and 8: fences -4.5 and 15.5
}

TEST(Summary, counts_outliers_on_both_sides_and_keeps_them) {
  const std::vector<double> x = {-50, 10, 10, 11, 11, 12, 12, 13, 13, 60};
  const Summary s = summarise(x);
  EXPECT_EQ(s.outliers, 2);
  EXPECT_EQ(s.samples, 10);
  EXPECT_DOUBLE_EQ(s.smallest, -50);
  EXPECT_DOUBLE_EQ(s.largest, 60);
}

TEST(Summary, of_one_value_claims_no_confidence) {
  const std::vector<double> x = {3};
  const Summary s = summarise(x);
  EXPECT_DOUBLE_EQ(s.median_interval.low, 3);
  EXPECT_DOUBLE_EQ(s.median_interval.high, 3);
  EXPECT_DOUBLE_EQ(s.coverage, 0);
  EXPECT_EQ(s.outliers, 0);
}

TEST(GeometricMean, of_values_whose_product_overflows) {
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{0.5, 2.0}), 1.0);
  EXPECT_NEAR(geometric_mean(std::vector<double>{1e200, 1e300}) / 1e250, 1.0, 1e-12);
}

TEST(Comparison, spans_the_second_to_the_eighth_of_nine_launches) {
  std::vector<LaunchMedians> launches;
  for (double ratio : {0.9, 1.2, 0.8, 1.0, 0.7, 1.1, 0.95, 0.85, 1.5}) launches.push_back({ratio * 4, 4});
  const Comparison c = compare(launches); // sorted .7 .8 .85 .9 .95 1 1.1 1.2 1.5
  EXPECT_EQ(c.launches, 9);
  EXPECT_DOUBLE_EQ(c.ratio, 0.95);
  EXPECT_DOUBLE_EQ(c.interval.low, 0.8);
  EXPECT_DOUBLE_EQ(c.interval.high, 1.2);
  EXPECT_NEAR(c.coverage, 0.961, 0.001);
}

TEST(Comparison, cancels_what_a_launch_does_to_both) {
  std::vector<LaunchMedians> launches;
  for (double speed : {1.0, 3.0, 10.0, 0.1, 2.0, 5.0}) launches.push_back({0.5 * speed, speed});
  const Comparison c = compare(launches);
  EXPECT_DOUBLE_EQ(c.interval.low, 0.5);
  EXPECT_DOUBLE_EQ(c.interval.high, 0.5);
}

} // namespace
} // namespace kumihimo::measure
