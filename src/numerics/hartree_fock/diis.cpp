#include "hartree_fock/diis.hpp"

#include "hartree_fock/linear_algebra.hpp"

#include <cmath>

namespace kumihimo::hartree_fock {

// Equation 6 of the paper: c and a multiplier where |sum c_i e_i| is least under sum c_i = 1. Errors of late iterations
// are far smaller than those of early ones, so the unknowns are y_i = c_i |e_i| / |e_n|, of errors of norm 1. Errors
// that depend on each other make the matrix singular: solve() then takes the shortest of the solutions.
Matrix Diis::extrapolate(const Matrix& fock, const Matrix& error) {
  const double norm = std::sqrt(inner(error, error));
  if (norm == 0) return fock;
  pairs_.push_back({fock, error, norm});
  if (pairs_.size() > most_) pairs_.pop_front();
  const int n = static_cast<int>(pairs_.size());
  Matrix b(n + 1);
  for (int i = 0; i < n; ++i) {
    b(i, n) = b(n, i) = norm / pairs_[i].norm;
    for (int j = 0; j < n; ++j) b(i, j) = inner(pairs_[i].error, pairs_[j].error) / (pairs_[i].norm * pairs_[j].norm);
  }
  std::vector<double> right(static_cast<std::size_t>(n) + 1);
  right.back() = 1;
  const std::vector<double> y = solve(b, right);
  Matrix found(fock.size);
  for (int i = 0; i < n; ++i) found = sum(found, pairs_[i].fock, y[i] * b(i, n));
  return found;
}

} // namespace kumihimo::hartree_fock
