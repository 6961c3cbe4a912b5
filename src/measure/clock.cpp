#include "measure/clock.hpp"

#include "measure/summary.hpp"

#include <algorithm>
#include <vector>

namespace kumihimo::measure {
namespace {

double smallest_step_ns(int readings) {
  std::int64_t smallest = INT64_MAX, previous = now_ns();
  for (int i = 0; i < readings; ++i) {
    const std::int64_t now = now_ns();
    if (now > previous) smallest = std::min(smallest, now - previous);
    previous = now;
  }
  return smallest == INT64_MAX ? 0.0 : static_cast<double>(smallest);
}

double time_of_reading_ns(int blocks, int readings) {
  std::vector<double> times;
  for (int b = 0; b < blocks; ++b) {
    const std::int64_t start = now_ns();
    for (int i = 1; i < readings; ++i) now_ns();
    times.push_back(static_cast<double>(now_ns() - start) / readings);
  }
  return summarise(times).median;
}

} // namespace

ClockFacts measure_clock() { return {"CLOCK_MONOTONIC", smallest_step_ns(10000), time_of_reading_ns(100, 200)}; }

bool is_measurable(double interval_ns, const ClockFacts& clock) {
  return clock.overhead_ns < 0.05 * interval_ns && clock.resolution_ns < 0.1 * interval_ns;
}

} // namespace kumihimo::measure
