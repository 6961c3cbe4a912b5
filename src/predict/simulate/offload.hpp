// What a program asks of the network's own engine for barriers and small reductions.
#pragma once

#include "program/program_set.hpp"

#include <optional>

namespace kumihimo::simulation {

// Bytes of the largest offload of this rank's program in any segment; none without one. O(1) in the segments where they
// are equal.
std::optional<std::int64_t> largest_offload(const ProgramSet& schedule, Rank rank, const Program& program);

} // namespace kumihimo::simulation
