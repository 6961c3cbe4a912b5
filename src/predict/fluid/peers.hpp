// How many ranks a program exchanges messages with.
#pragma once

#include "program/program.hpp"

namespace kumihimo::simulation {

// The ranks that it sends to or receives from, whichever are more. A peer that changes with a loop counts once for each
// iteration. O(steps as they are written): loops are not walked.
std::int64_t peers_of(const Program& program);

} // namespace kumihimo::simulation
