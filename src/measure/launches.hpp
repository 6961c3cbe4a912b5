// Comparison of two implementations over several launches. Within a launch both alternate in the same processes, so
// that what a launch brings with it (placement of memory, neighbours on the machine) touches both and cancels in their
// ratio. Launches are the independent samples: the interval is that of the median of their ratios (the 2nd to the 8th
// of 9).
#pragma once

#include "measure/order_statistics.hpp"

#include <cstdint>
#include <span>

namespace kumihimo::measure {

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
};

// At least one launch.
Comparison compare(std::span<const LaunchMedians> launches);

} // namespace kumihimo::measure
