// Eigen's threads would block the depth of a product by their number, and so change its bits.
#define EIGEN_DONT_PARALLELIZE

#include "hartree_fock/linear_algebra.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace kumihimo::hartree_fock {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Rows> view(const Matrix& a) { return {a.values.data(), a.size, a.size}; }
Eigen::Map<Rows> view(Matrix& a) { return {a.values.data(), a.size, a.size}; }

constexpr double least_overlap = 1e-8;

} // namespace

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix found(a.size);
  view(found).noalias() = view(a) * view(b);
  return found;
}

Matrix transposed(const Matrix& a) {
  Matrix found(a.size);
  view(found) = view(a).transpose();
  return found;
}

Matrix sum(const Matrix& a, const Matrix& b, double times_b) {
  Matrix found(a.size);
  view(found) = view(a) + times_b * view(b);
  return found;
}

double inner(const Matrix& a, const Matrix& b) { return view(a).cwiseProduct(view(b)).sum(); }

double largest_entry(const Matrix& a) { return a.size == 0 ? 0 : view(a).cwiseAbs().maxCoeff(); }

Matrix transform(const Matrix& a, const Matrix& x) {
  Matrix found(a.size);
  view(found).noalias() = view(x).transpose() * (view(a) * view(x));
  return found;
}

EigenPairs eigen_pairs(const Matrix& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Rows> solver(view(symmetric));
  EigenPairs found{{solver.eigenvalues().begin(), solver.eigenvalues().end()}, Matrix(symmetric.size)};
  view(found.vectors) = solver.eigenvectors();
  return found;
}

Result<Matrix> inverse_square_root(const Matrix& overlap) {
  const Eigen::SelfAdjointEigenSolver<Rows> solver(view(overlap));
  if (!(solver.eigenvalues().minCoeff() > least_overlap))
    return wrong_value(
        "the basis functions must be independent: the least eigenvalue of their overlap must be above 1e-8", {},
        "check the distances of atoms, or use a smaller basis set");
  Matrix found(overlap.size);
  view(found) = solver.operatorInverseSqrt();
  return found;
}

std::vector<double> solve(const Matrix& a, const std::vector<double>& b) {
  const Eigen::VectorXd x =
      Eigen::CompleteOrthogonalDecomposition<Rows>(view(a)).solve(Eigen::Map<const Eigen::VectorXd>(b.data(), a.size));
  return {x.begin(), x.end()};
}

} // namespace kumihimo::hartree_fock
