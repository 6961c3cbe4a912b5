// The processors of this process: whether it shares them, and its time on them.
#pragma once

#include <cstdint>

namespace kumihimo::record {

// Whether the launcher has started more processes of the job here than there are processors. False: unknown, too.
bool shares_processors();

// What this thread has had of a processor so far, in nanoseconds.
std::int64_t processor_time_ns();

} // namespace kumihimo::record
