#include "hartree_fock/diis.hpp"

#include "hartree_fock/linear_algebra.hpp"

namespace kumihimo::hartree_fock {

// Equation 6 of the paper: B c = (0 ... 0 -1), B_ij = <e_i, e_j>, bordered by -1. B is scaled to 1, so that its rank is
// that of the errors and not of their size.
Matrix Diis::extrapolate(const Matrix& fock, const Matrix& error) {
  pairs_.push_back({fock, error});
  if (pairs_.size() > most_) pairs_.pop_front();
  const int n = static_cast<int>(pairs_.size());
  Matrix b(n + 1);
  const double scale = inner(pairs_.back().error, pairs_.back().error);
  if (n == 1 || scale == 0) return fock;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) b(i, j) = inner(pairs_[i].error, pairs_[j].error) / scale;
    b(i, n) = b(n, i) = -1;
  }
  std::vector<double> right(static_cast<std::size_t>(n) + 1);
  right.back() = -1;
  const std::vector<double> c = solve(b, right);
  Matrix found(fock.size);
  for (int i = 0; i < n; ++i) found = sum(found, pairs_[i].fock, c[i]);
  return found;
}

} // namespace kumihimo::hartree_fock
