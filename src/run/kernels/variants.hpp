// The kernel variants: every way to reduce and to copy that is built, one row each in variants.def.
#pragma once

#include "base/parameter.hpp"
#include "kernels/copy.hpp"
#include "kernels/reduce.hpp"

#include <span>
#include <string_view>

namespace kumihimo::kernels {

struct ReduceVariant : VariantDescription {
  bool runs_here; // does this processor, with its operating system, have the instructions?
  // Null if the operation is the user's, the type is opaque, or is_applicable(type, op) is false.
  ReduceKernel (*kernel)(DataType type, Operation op);
  int rank = 0; // untuned the highest runs; 0: it runs tuned alone
};

struct CopyVariant : VariantDescription {
  bool runs_here;
  CopyKernel (*kernel)(const ParameterValues& values); // null: none is compiled for these values
};

// A variant with a value for each of its parameters.
struct CopyChoice {
  const CopyVariant* variant = nullptr;
  ParameterValues parameters = {};

  CopyChoice() = default;
  CopyChoice(const CopyVariant* of, ParameterValues given = {})
      : variant(of), parameters(with_defaults(of->parameters, std::move(given))) {}
  CopyKernel kernel() const { return variant->kernel(parameters); }
  bool operator==(const CopyChoice&) const = default;
};

// The golden copy, `plain`, is the first of each.
std::span<const ReduceVariant> reduce_variants();
std::span<const CopyVariant> copy_variants();
// Null if there is none of this name that runs here.
const ReduceVariant* find_reduce_variant(std::string_view name);
const CopyVariant* find_copy_variant(std::string_view name);

} // namespace kumihimo::kernels
