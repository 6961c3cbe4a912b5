// The clock of all measurements: monotonic, in nanoseconds. Its own resolution and cost are measured, so that a report
// can say whether an interval is long enough (Hoefler and Belli, SC15: overhead below 5 % of the interval, precision
// ten times finer).
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace kumihimo::measure {

// Nanoseconds since an arbitrary fixed time of this process's machine; never runs backwards.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct ClockFacts {
  std::string_view source;    // the system's name of the clock
  double resolution_ns = 0.0; // the smallest step seen between two readings
  double overhead_ns = 0.0;   // the time of one reading, median of many
};

// Takes about a millisecond.
ClockFacts measure_clock();

// Is an interval long enough for a single pair of readings?
bool is_measurable(double interval_ns, const ClockFacts& clock);

} // namespace kumihimo::measure
