// When to stop sampling: once the 95 % interval of the median lies within a given share of the median, looked at every
// few samples and not before there are enough for such an interval to exist (Hoefler and Belli, SC15, section 4.2.2).
#pragma once

#include <cstdint>
#include <span>

namespace kumihimo::measure {

struct StopRule {
  double relative_error = 0.05;  // both ends of the interval within this share of the median
  std::int64_t at_least = 6;     // fewer give no 95 % interval
  std::int64_t at_most = 1000;   // then stop without it
  std::int64_t check_every = 10; // looking after every sample would stop on lucky ones
};

enum class StopDecision { sample_on, precise_enough, too_many };

// To be asked after every sample. Equal sample sets give equal decisions, so ranks that hold the same samples agree.
StopDecision decide(const StopRule& rule, std::span<const double> samples);

} // namespace kumihimo::measure
