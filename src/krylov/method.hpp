// The methods: one row each in methods.def, one page each beside it.
#pragma once

#include "base/parameter.hpp"
#include "base/result.hpp"
#include "krylov/vector_kernels.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::krylov {

class Run;

struct Method : VariantDescription {
  std::string_view reference;
  void (*iterate)(Run&);
  int reductions, overlapped;        // sums over ranks in an iteration, and how many of them run behind other work
  std::vector<VectorKernel> kernels; // of an iteration
  int vectors;                       // that the method allocates, beside x and b
  int bytes_per_row() const;         // that the vector kernels of an iteration move
};

std::span<const Method> methods();
Result<const Method*> find_method(std::string_view name); // error: names those that exist

} // namespace kumihimo::krylov
