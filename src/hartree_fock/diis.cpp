#include "hartree_fock/diis.hpp"

#include "hartree_fock/linear_algebra.hpp"

#include <cmath>

namespace kumihimo::hartree_fock {

// The error of sum c_i F_i is least, with sum c_i = 1, where B c has equal elements, B_ij = <e_i, e_j> (equation 6 of the
// paper). Errors of late iterations are far smaller than those of early ones, so B is solved between errors of norm 1.
Matrix Diis::extrapolate(const Matrix& fock, const Matrix& error) {
  const double norm = std::sqrt(inner(error, error));
  if (norm == 0) return fock;
  pairs_.push_back({fock, error, norm});
  if (pairs_.size() > most_) pairs_.pop_front();
  const int n = static_cast<int>(pairs_.size());
  Matrix b(n);
  std::vector<double> right;
  for (int i = 0; i < n; ++i) {
    right.push_back(norm / pairs_[i].norm);
    for (int j = 0; j < n; ++j) b(i, j) = inner(pairs_[i].error, pairs_[j].error) / (pairs_[i].norm * pairs_[j].norm);
  }
  std::vector<double> c = solve(b, right);
  double total = 0;
  for (int i = 0; i < n; ++i) total += c[i] /= pairs_[i].norm;
  Matrix found(fock.size);
  for (int i = 0; i < n; ++i) found = sum(found, pairs_[i].fock, c[i] / total);
  return found;
}

} // namespace kumihimo::hartree_fock
