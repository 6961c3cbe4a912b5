// How long compute steps take, and the most that one may ask for.
#pragma once

#include "base/result.hpp"
#include "program/program.hpp"

namespace kumihimo {

// So that its time in nanoseconds fits in 64 bits.
inline constexpr double most_compute_seconds = 1e6; // 11 days
inline constexpr double most_compute_flops = 1e18, most_compute_bytes = 1e18;

// Rates at which a rank computes, and moves data to and from its memory; 0: not known.
struct ComputeRates {
  double flops = 0, bytes = 0;
};

// Counting and moving overlap; `seconds` come on top. Every rate that the work needs must be known.
double seconds_at(const ComputeRates& rates, const Work& work);
// The same where ranks wait as long. Errors: a rate is needed that is not known (not_applicable); more than
// most_compute_seconds.
Result<double> seconds_of(const Work& work, const ComputeRates& rates);

} // namespace kumihimo
