// Dense square matrix by rows: density, G, Fock and one-electron matrices over the functions of a basis.
#pragma once

#include <cstddef>
#include <vector>

namespace kumihimo::hartree_fock {

struct Matrix {
  int size = 0; // rows and columns
  std::vector<double> values;

  Matrix() = default;
  explicit Matrix(int n) : size(n), values(static_cast<std::size_t>(n) * n) {} // of zeros

  double* row(int i) { return values.data() + static_cast<std::ptrdiff_t>(i) * size; }
  const double* row(int i) const { return values.data() + static_cast<std::ptrdiff_t>(i) * size; }
  double& operator()(int i, int j) { return row(i)[j]; }
  double operator()(int i, int j) const { return row(i)[j]; }
};

} // namespace kumihimo::hartree_fock
