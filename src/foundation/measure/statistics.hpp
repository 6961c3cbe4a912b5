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

// The same for any quantile p: at most 2.5 % of all sets of n samples have more than low - 1 of them below it, and at
// most 2.5 % have fewer than `high` of them. 0: no sample is that far out. Exact: the number of samples below the
// quantile is binomial(n, p). n >= 1, 0 < p < 1.
struct QuantileRanks {
  std::int64_t low = 0, high = 0;
};
QuantileRanks quantile_ranks(std::int64_t n, double probability);

// `low` is -infinity, and `high` infinity, where the samples do not show it: the 95th percentile has an upper end from
// 73 samples on. Samples in ascending order, at least one.
Interval quantile_interval(std::span<const double> sorted, double probability);

// What is reported of a set of samples. Nothing is removed: outliers (Tukey: beyond 1.5 interquartile ranges from the
// quartiles) are counted and kept.
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

// Comparison of two implementations over several launches. Within a launch both alternate in the same processes, so
// that what a launch brings with it (placement of memory, neighbours on the machine) touches both and cancels in their
// ratio. Launches are the independent samples: the interval is that of the median of their ratios (the 2nd to the 8th
// of 9).

// The median times of one launch, in the same unit, both positive.
struct LaunchMedians {
  double ours = 0.0;
  double theirs = 0.0;
};

struct Comparison {
  std::int64_t launches = 0;
  double ratio = 0.0; // ours / theirs, median of the launches: below 1 we are faster
  Interval interval;
  double coverage = 0.0; // at least 95 % from 6 launches on

  // The rule of every choice of tuning (ADR 0025): ours is taken only if it is faster with its whole interval, even if
  // it costs `extra` times theirs more. So ties are theirs.
  bool is_faster(double extra = 0.0) const { return interval.high + extra < 1; }
};

// At least one launch.
Comparison compare(std::span<const LaunchMedians> launches);

} // namespace kumihimo::measure
