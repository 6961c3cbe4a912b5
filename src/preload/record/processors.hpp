// The processors that this process may run on.
#pragma once

#include <cstdint>
#include <string>

namespace kumihimo::record {

// "0-3,8"; empty: unknown. Processes of a node may share them, or have some each.
std::string allowed_processors();

// Whether the launcher has started more processes of the job here than there are processors. False: unknown, too.
bool shares_processors();

// What this thread has had of a processor so far, in nanoseconds.
std::int64_t processor_time_ns();

} // namespace kumihimo::record
