// A variant: a way to assemble the matrix, or to multiply without one.
#pragma once

#include "base/parameter.hpp"
#include "fem/variants.hpp"
#include "fem_cube/options.hpp"

#include <span>

namespace kumihimo::fem_cube {

struct FemVariant : VariantDescription {
  const fem::AssemblyVariant* assembly = nullptr; // one of the two
  const fem::OperatorVariant* operation = nullptr;

  bool is_golden() const;
  // Errors (not applicable): the processor does not have its instructions; options that need a matrix.
  Status check_applicable(const FemOptions& options) const;
};

// The golden copy first, then the other assemblies, then the products without a matrix.
std::span<const FemVariant> variants();

} // namespace kumihimo::fem_cube
