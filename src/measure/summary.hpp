// What is reported of a set of samples. Nothing is removed: outliers (Tukey: beyond 1.5 interquartile ranges from the
// quartiles) are counted and kept.
#pragma once

#include "measure/order_statistics.hpp"

#include <cstdint>
#include <span>

namespace kumihimo::measure {

struct Summary {
  std::int64_t samples = 0;
  double median = 0.0;
  Interval median_interval; // 95 %, see `coverage`
  double coverage = 0.0;    // what the interval really covers: less than 95 % below 6 samples
  double p10 = 0.0, p90 = 0.0, p99 = 0.0;
  double smallest = 0.0, largest = 0.0;
  std::int64_t outliers = 0;
};

// At least one sample, all finite, in any order. O(n log n).
Summary summarise(std::span<const double> samples);

// Of positive values, at least one.
double geometric_mean(std::span<const double> values);

} // namespace kumihimo::measure
