// Whether a program is well formed: what can be said of one rank alone, by bounds of expressions, without expanding a
// loop.
#pragma once

#include "verify/post_condition.hpp"
#include "verify/report.hpp"

namespace kumihimo::verify {

void check_structure(const Subject& schedule, const Program& program, Rank rank, std::size_t most_findings,
                     std::vector<Finding>& findings);

} // namespace kumihimo::verify
