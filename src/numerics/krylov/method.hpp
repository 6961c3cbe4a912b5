// The methods: one row each in methods.def, one page each beside it.
#pragma once

#include "base/parameter.hpp"
#include "base/result.hpp"
#include "krylov/vector_kernels.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::krylov {

class SolverRun;

struct Method : VariantDescription {
  std::string_view reference;
  void (*iterate)(SolverRun&);
  int reductions, overlapped;                  // sums over ranks in a step, and how many of them run behind other work
  int vectors;                                 // that the method allocates beside x and b, with default parameters
  std::vector<VectorKernel> kernels;           // of an iteration
  double (*own_bytes)(const ParameterValues&); // of a method with loops of its own; or null

  // That the loops over vectors of an iteration move between memory and processor.
  double bytes_per_row(const ParameterValues& values = {}) const;
  std::int64_t iterations_of_step(const ParameterValues& values = {}) const; // s, or 1
};

std::span<const Method> methods();
Result<const Method*> find_method(std::string_view name); // error: names those that exist

} // namespace kumihimo::krylov
