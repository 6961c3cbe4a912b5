// What a stretch of work costs this process: time on a processor, and how often it was taken off one.
#pragma once

#include <cstdint>

namespace kumihimo::measure {

struct ProcessorTime {
  double user_seconds = 0, system_seconds = 0; // of all threads; the kernel's copies count as the system's
  std::int64_t switches = 0;                   // to other threads, given way to or taken by force

  ProcessorTime& operator+=(const ProcessorTime& other);
  friend ProcessorTime operator-(const ProcessorTime& end, const ProcessorTime& start);
};

// Since this process began (getrusage(2)). Where the kernel counts by clock ticks the sum of both times is exact, their
// split only in the mean over many ticks.
ProcessorTime processor_time();

// Nanoseconds on a processor of the calling thread since it began (CLOCK_THREAD_CPUTIME_ID).
std::int64_t thread_time_ns();

} // namespace kumihimo::measure
