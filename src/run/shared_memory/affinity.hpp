// Processor affinity. Launchers bind processes, so the number of processors that the ranks of a node have together
// follows only from the set of each rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::shared_memory {

// The processors of this process, ascending; empty if the system does not say.
std::vector<std::int32_t> allowed_processors();
// The package (socket) that all of these processors are in; -1: they are in several, or the system does not say.
std::int32_t package_of(std::span<const std::int32_t> processors,
                        const std::string& system = "/sys/devices/system/cpu");
// Binds this process to one processor. False: the system refused.
bool bind_to(std::int32_t processor);

// Number of ranks of the whole job on this node, by the launcher's environment; 0 if that does not say.
std::int32_t job_ranks_on_node();

// A set of processors, one bit each.
using ProcessorMask = std::vector<std::uint64_t>;
ProcessorMask mask_of(std::span<const std::int32_t> processors);
// Number of processors in the union of several masks of `words` words each; at least 1.
std::int32_t processors_in(std::span<const std::uint64_t> masks, std::size_t words);

} // namespace kumihimo::shared_memory
