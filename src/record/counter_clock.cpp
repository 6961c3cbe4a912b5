#include "record/counter_clock.hpp"

#include "measure/clock.hpp"

#include <algorithm>
#include <fstream>
#include <string>

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

struct Reading {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};

// Both at about the same time: the closest of a few readings, since the thread may lose its processor in between.
Reading read_both() {
  constexpr int readings = 3;
  Reading closest;
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
  Reading first, latest;
  double ns_per_tick = 0;        // between the two
  std::uint64_t valid_ticks = 0; // after `latest`
  std::int64_t told_ns = 0;

  std::int64_t told(std::int64_t ns) { return told_ns = std::max(told_ns, ns); }

  std::int64_t now_ns() {
    const std::uint64_t passed = __rdtsc() - latest.ticks;
    if (passed < valid_ticks)
      return told(latest.ns + static_cast<std::int64_t>(static_cast<double>(passed) * ns_per_tick));
    return again_ns();
  }

  // Over a millisecond the rate is right to 1e-4, which in the next millisecond makes some tens of nanoseconds. It gets
  // better the longer the first reading is ago.
  std::int64_t again_ns() {
    static const bool by_counter = kernel_uses_counter();
    if (!by_counter) return measure::now_ns();
    constexpr std::int64_t period_ns = 1'000'000;
    const std::int64_t now = measure::now_ns();
    if (first.ns != 0 && now - first.ns < period_ns) return told(now);
    latest = read_both();
    if (first.ns == 0) return first = latest, told(latest.ns);
    ns_per_tick = static_cast<double>(latest.ns - first.ns) / static_cast<double>(latest.ticks - first.ticks);
    valid_ticks = static_cast<std::uint64_t>(static_cast<double>(period_ns) / ns_per_tick);
    return told(latest.ns);
  }
};

thread_local constinit ThreadClock thread_clock;

} // namespace

std::int64_t counter_clock_ns() { return thread_clock.now_ns(); }
#else
std::int64_t counter_clock_ns() { return measure::now_ns(); }
#endif

} // namespace kumihimo::record
