// Numbers by which processes find out whether they are on one machine.
#pragma once

#include <cstdint>

namespace kumihimo::shared_memory {

// A number that all processes of one running system share, from its host name and boot id; no_machine_number if the
// system gives none. Two processes with the same number may still not see each other's memory; that shows when they
// try.
inline constexpr std::int64_t no_machine_number = 0;
std::int64_t machine_number();
// The same of its boot id alone: containers and network namespaces have host names of their own and one kernel, so the
// same processors.
std::int64_t kernel_number();

} // namespace kumihimo::shared_memory
