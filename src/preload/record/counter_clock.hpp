// CLOCK_MONOTONIC, extrapolated by the time-stamp counter for at most a millisecond: half the cost of a clock call.
// Where the kernel's own clock is not that counter, the clock is read each time.
#pragma once

#include <cstdint>

namespace kumihimo::record {

// As measure::now_ns(), to some tens of nanoseconds; to a microsecond while the kernel adjusts the clock. Never runs
// backwards on one thread.
[[gnu::hot]] std::int64_t counter_clock_ns();

} // namespace kumihimo::record
