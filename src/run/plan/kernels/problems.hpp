// The kernels of the executors as problems, by the rows of kernels.def: what is asked for, which variants answer, and
// how they are checked and timed. The size is that of one operand, or of the copy, in bytes.
#pragma once

#include "plan/kernels/kernel.hpp"

#include <utility>
#include <vector>

namespace kumihimo::plan {

// min and max share a choice, and so do the three logical operations, the three on bits, signed and unsigned types.
struct ReduceClass {
  std::string operation, type; // "minmax", "int32"
  std::vector<std::pair<Operation, DataType>> members;
};
const std::vector<ReduceClass>& reduce_classes();

struct NamedKernel {
  std::string_view name;
  const KernelProblem& kernel;
};
std::span<const NamedKernel> all_kernels();
const KernelProblem* find_kernel(std::string_view name); // null: there is none
// Of all kernels, each with the field `kernel` first.
std::vector<Key> kernel_keys();

} // namespace kumihimo::plan
