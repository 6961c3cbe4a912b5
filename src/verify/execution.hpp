// Abstract execution with synchronous sends: nothing is buffered, windows, loops in flight and `after` as declared.
// The matching of sends and receives is fixed, so the schedule is an event graph: if one execution gets stuck all do,
// and if all goes through no interleaving is stuck. Likewise the result: where no two steps collide in memory
// (memory.hpp), every interleaving computes the same values.
#pragma once

#include "verify/activation.hpp"
#include "verify/execution_types.hpp"

namespace kumihimo::verify {

ExecutionOutcome execute(const Subject& schedule, const ExecutionScope& scope, std::size_t most_findings);

} // namespace kumihimo::verify
