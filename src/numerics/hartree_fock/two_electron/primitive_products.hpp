// The products of the primitives of two shells.
#pragma once

#include "hartree_fock/basis.hpp"

#include <vector>

namespace kumihimo::hartree_fock::two_electron {

struct PrimitiveProduct {
  double bound = 0;            // sqrt of the largest |(ab|ab)| of the functions of these two primitives
  std::vector<double> numbers; // as Products has them
};

// All of shells a and b, whose functions are those of `kind`.
std::vector<PrimitiveProduct> primitive_products(const Shell& a, const Shell& b, int kind);

} // namespace kumihimo::hartree_fock::two_electron
