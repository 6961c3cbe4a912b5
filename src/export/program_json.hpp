// One rank's program as JSON, as it is written: loops are not expanded, expressions are texts over the variables s (the
// segment), i, j, k ... of the enclosing loops.
#pragma once

#include "schedule/schedule.hpp"

#include <string>

namespace kumihimo {

// An object: collective, ranks, root, in_place, count, type, operation, algorithm, parameters, segments, claims, rank,
// scratch, lanes. A lane's body is a list of rounds {"steps": [...]} and loops {"trip", "in_flight", "body"}.
std::string program_json(const Schedule& schedule, Rank rank);

// Of programs that are no collective: programs (their name), ranks, type, segments, rank, scratch, lanes.
std::string program_json(const ProgramSet& set, const std::string& name, Rank rank);

} // namespace kumihimo
