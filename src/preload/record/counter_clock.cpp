#include "record/counter_clock.hpp"

#include "measure/clock.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <utility>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace kumihimo::record {

#ifdef __x86_64__
namespace {

// The kernel has checked that it runs evenly and alike on all processors, else it would have chosen another one.
bool kernel_uses_counter() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return std::getline(file, name) && name == "tsc";
}

struct CounterReading {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};

// Reads the counter and the clock together: the closest of a few readings, since the thread may lose its processor in
// between.
CounterReading read_both() {
  constexpr int readings = 3;
  CounterReading closest;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < readings; ++i) {
    const std::uint64_t before = __rdtsc();
    const std::int64_t ns = measure::now_ns();
    const std::uint64_t apart = __rdtsc() - before;
    if (apart < least) least = apart, closest = {before + apart / 2, ns};
  }
  return closest;
}

struct ThreadClock {
  CounterReading first, latest;
  double ns_per_tick = 0;        // between the two
  std::uint64_t valid_ticks = 0; // after `latest`
  std::int64_t last_ns = 0;      // that was returned

  std::int64_t not_before(std::int64_t ns) { return last_ns = std::max(last_ns, ns); }

  std::int64_t now_ns() {
    const std::uint64_t passed = __rdtsc() - latest.ticks;
    if (passed < valid_ticks)
      return not_before(latest.ns + static_cast<std::int64_t>(static_cast<double>(passed) * ns_per_tick));
    return calibrated_ns();
  }

  // Over a millisecond the rate is right to 1e-4, which in the next millisecond makes some tens of nanoseconds. It gets
  // better the longer the first reading is ago. If the clock and the counter have parted since the latest reading (a
  // virtual machine that was stopped, a counter that began again), both begin anew.
  std::int64_t calibrated_ns() {
    static const bool by_counter = kernel_uses_counter();
    if (!by_counter) return measure::now_ns();
    constexpr std::int64_t period_ns = 1'000'000;
    constexpr double same_rate = 1e-3;
    valid_ticks = 0;
    if (const std::int64_t now = measure::now_ns(); first.ns != 0 && now - first.ns < period_ns) return not_before(now);
    const CounterReading before = std::exchange(latest, read_both());
    const double rate = rate_between(first, latest);
    if (first.ns == 0 || std::abs(rate_between(before, latest) / rate - 1) > same_rate)
      return first = latest, not_before(latest.ns);
    ns_per_tick = rate;
    valid_ticks = static_cast<std::uint64_t>(static_cast<double>(period_ns) / rate);
    return not_before(latest.ns);
  }

  static double rate_between(const CounterReading& a, const CounterReading& b) {
    return static_cast<double>(b.ns - a.ns) / static_cast<double>(static_cast<std::int64_t>(b.ticks - a.ticks));
  }
};

thread_local constinit ThreadClock thread_clock;

} // namespace

std::int64_t counter_clock_ns() { return thread_clock.now_ns(); }
#else
std::int64_t counter_clock_ns() { return measure::now_ns(); }
#endif

} // namespace kumihimo::record
