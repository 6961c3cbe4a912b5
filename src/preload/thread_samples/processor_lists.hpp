// Sets of processors, as the kernel writes them: "0-3,8".
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::thread_samples {

using ProcessorMask = std::array<cpu_set_t, 8>; // 8,192 processors

std::string list_of(const ProcessorMask& mask);

// Numbers that are no list are left out.
std::vector<int> processors_in(std::string_view list);

// Where this thread of this process may run (0: the calling one); empty: unknown.
std::string processors_of_thread(pid_t thread);

// Lets the calling thread run wherever the node and the control groups of this process let it. Returns these
// processors; empty: unknown. The kernel leaves out of a wider mask what the control groups forbid.
std::string widen_calling_thread();

} // namespace kumihimo::thread_samples
