// What a library decides by a whole program: how many ranks it exchanges messages with, whether it sums up.
#pragma once

#include "program/program.hpp"

namespace kumihimo::simulation {

// The ranks that it sends to or receives from, whichever are more. A peer that changes with a loop counts once for each
// iteration. O(steps as they are written): loops are not walked.
std::int64_t peers_of(const Program& program);
// Whether any step of it reduces.
bool sums_up(const Program& program);

} // namespace kumihimo::simulation
