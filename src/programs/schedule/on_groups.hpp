// A schedule on several groups of ranks at the same time, as transforms have it along the rows and the columns of a
// grid of ranks.
#pragma once

#include "program/named_programs.hpp"
#include "schedule/schedule.hpp"

#include <cstdint>

namespace kumihimo {

// Members of a group are `stride` ranks apart: with 3 members and stride 2, ranks 0 2 4 are a group, 1 3 5 another, and
// 6 8 10 the next. Programs of all ranks, without claims about their result. Errors (not_applicable): the network's
// engine does steps of the schedule; lengths that differ by rank; ranks that no number of such groups makes.
Result<NamedPrograms> on_groups(const Schedule& of_group, std::int32_t ranks, std::int32_t stride);

} // namespace kumihimo
