// The reductions and copies of the executors as problems: what is asked for, which variants answer, and how they are
// checked and timed. Keys:
//   kernel reduce, operation, type    of a class of operations and types that the same instructions serve
//   kernel copy, reader               same core, other core (kernels::Reader)
// The size is that of one operand, or of the copy, in bytes.
#pragma once

#include "base/datatype.hpp"
#include "base/result.hpp"
#include "kernels/plans.hpp"
#include "problem/problem.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kumihimo::plan {

// min and max share a choice, and so do the three logical operations, the three on bits, signed and unsigned types.
struct ReduceClass {
  std::string operation, type; // "minmax", "int32"
  std::vector<std::pair<Operation, DataType>> members;
};
const std::vector<ReduceClass>& reduce_classes();

// All keys, the most used first.
std::vector<problem::Key> kernel_keys();
// Of a key; the same for all keys of one kernel.
const problem::Problem& kernel_problem(const problem::Key& key);

// Kernels in arrays of their own, to be timed as executors run them.

// A run is two calls, into an array of its own and onto an operand: executors reduce in both ways. Bound: the operands
// of both calls are read.
Result<std::unique_ptr<problem::Trial>> reduce_trial(Operation operation, DataType type, std::int64_t bytes);

// A run is a copy that the same core reads. Bound: source and target are read.
Result<std::unique_ptr<problem::Trial>> local_copy_trial(std::int64_t bytes);

// A run is a copy into the next slot of a ring, which a thread on another core reads, as messages pass between ranks of
// a node. Bound: the source is read. Error: this process may use one processor alone.
Result<std::unique_ptr<problem::Trial>> shared_copy_trial(std::int64_t bytes);

} // namespace kumihimo::plan
