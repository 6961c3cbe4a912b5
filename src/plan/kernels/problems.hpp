// The reductions and copies of the executors as problems: what is asked for, which variants answer, and how they are
// checked and timed. Keys:
//   kernel reduce, operation, type    of a class of operations and types that the same instructions serve
//   kernel copy, reader               same core, other core (kernels::Reader)
// The size is that of one operand, or of the copy, in bytes.
#pragma once

#include "kernels/plans.hpp"
#include "problem/problem.hpp"

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
// Of one kernel, "reduce" or "copy": all that are built, also those that this machine cannot run.
std::vector<problem::Variant> kernel_variants(std::string_view kernel);
const problem::Problem& kernel_problem(const problem::Key& key);

} // namespace kumihimo::plan
