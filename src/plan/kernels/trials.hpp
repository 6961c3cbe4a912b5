// Kernels in arrays of their own, to be timed as executors run them.
#pragma once

#include "base/datatype.hpp"
#include "base/result.hpp"
#include "problem/problem.hpp"

#include <cstdint>
#include <memory>

namespace kumihimo::plan {

// A run is two calls, into an array of its own and onto an operand: executors reduce in both ways. Bound: the operands
// of both calls are read.
Result<std::unique_ptr<problem::Trial>> reduce_trial(Operation operation, DataType type, std::int64_t bytes);

// A run is a copy that the same core reads. Bound: source and target are read.
Result<std::unique_ptr<problem::Trial>> local_copy_trial(std::int64_t bytes);

// A run is a copy into the next slot of a ring, which a thread on another core reads, as messages pass between ranks of
// a node. Bound: the source is read. Error: this process may use one processor alone.
Result<std::unique_ptr<problem::Trial>> shared_copy_trial(std::int64_t bytes);

} // namespace kumihimo::plan
