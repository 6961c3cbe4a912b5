// CLOCK_MONOTONIC in half its time: the processor's counter says what has passed since the clock was read last, at most
// a millisecond ago. Where the kernel's own clock is not that counter, it is read each time.
#pragma once

#include <cstdint>

namespace kumihimo::record {

// As measure::now_ns(), to some tens of nanoseconds. Never runs backwards on one thread.
std::int64_t counter_clock_ns();

} // namespace kumihimo::record
