// The processors that a process may run on. Launchers bind processes, so that how many processors the ranks of a node
// have together is known only from what each of them may use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::shared_memory {

// Of this process, ascending, however many the machine has; empty where the system does not say.
std::vector<std::int32_t> allowed_processors();
// Binds this process to one. False: the system refused.
bool bind_to(std::int32_t processor);

// A set of processors as a bit each.
using ProcessorMask = std::vector<std::uint64_t>;
ProcessorMask mask_of(std::span<const std::int32_t> processors);
// How many are in any of several masks, one behind the other, each of so many words; at least 1.
std::int32_t processors_in(std::span<const std::uint64_t> masks, std::size_t words);

} // namespace kumihimo::shared_memory
