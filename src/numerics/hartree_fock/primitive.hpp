// One Cartesian function of one primitive of a shell.
#pragma once

#include "hartree_fock/basis.hpp"

#include <cstddef>

namespace kumihimo::hartree_fock {

using Powers = std::array<int, 3>; // of x, y, z

struct PrimitiveFunction {
  Powers powers;
  double coefficient;
};

// `function` counts those of the shell, from 0.
inline PrimitiveFunction function_of(const Shell& shell, std::size_t primitive, int function) {
  if (!shell.s.empty() && function == 0) return {{0, 0, 0}, shell.s[primitive]};
  const int k = shell.s.empty() ? function : function - 1;
  return {{k == 0, k == 1, k == 2}, shell.p[primitive]};
}

} // namespace kumihimo::hartree_fock
