// A density matrix with the sums of |D| over the functions of two shells, which bound what a quartet adds to G.
#pragma once

#include "hartree_fock/basis.hpp"
#include "hartree_fock/matrix.hpp"

#include <span>
#include <vector>

namespace kumihimo::hartree_fock::two_electron {

struct ScreenedDensity {
  const Matrix& matrix;
  int shells = 0;
  std::vector<double> sums; // [a][b]
  double largest = 0;       // of sums

  ScreenedDensity(const Matrix& density, std::span<const Shell> of);
  const double* row(int shell) const { return sums.data() + static_cast<std::ptrdiff_t>(shell) * shells; }
};

} // namespace kumihimo::hartree_fock::two_electron
