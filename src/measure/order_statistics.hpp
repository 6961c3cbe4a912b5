// Quantiles and the distribution-free interval of the median: the ranks between which the true median lies with 95 %
// probability whatever the distribution. Le Boudec, Performance Evaluation of Computer and Communication Systems
// (2010), section 2.2 and annex A: the number of samples below the median is binomial(n, 1/2).
#pragma once

#include <cstdint>
#include <span>

namespace kumihimo::measure {

inline constexpr double confidence = 0.95;

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

// Ranks are 1-based. `coverage` is the true probability: below `confidence` for n < 6, where even the interval from
// smallest to largest is too narrow.
struct MedianRanks {
  std::int64_t low = 1;
  std::int64_t high = 1;
  double coverage = 0.0;
};

// The narrowest symmetric ranks with at least 95 % coverage: exact up to n = 200 (2nd and 8th of 9), beyond it the
// normal approximation, floor((n - z sqrt n) / 2) .. ceil(1 + (n + z sqrt n) / 2). n >= 1.
MedianRanks median_ranks(std::int64_t n);

// All of these take samples in ascending order, at least one.
double quantile(std::span<const double> sorted, double probability); // linear between neighbouring samples
double median(std::span<const double> sorted);
Interval median_interval(std::span<const double> sorted);

} // namespace kumihimo::measure
