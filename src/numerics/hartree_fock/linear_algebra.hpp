// Dense linear algebra of the SCF, by Eigen on one thread: the bits do not depend on the number of threads.
#pragma once

#include "base/result.hpp"
#include "hartree_fock/matrix.hpp"

#include <vector>

namespace kumihimo::hartree_fock {

Matrix product(const Matrix& a, const Matrix& b);
Matrix transposed(const Matrix& a);
Matrix sum(const Matrix& a, const Matrix& b, double times_b = 1);
double inner(const Matrix& a, const Matrix& b);     // sum of a_ij b_ij
double largest_entry(const Matrix& a);              // of the absolute values
Matrix transform(const Matrix& a, const Matrix& x); // x^T a x

struct EigenPairs {
  std::vector<double> values; // ascending
  Matrix vectors;             // in columns
};
// Of a symmetric matrix.
EigenPairs eigen_pairs(const Matrix& symmetric);

// S^(-1/2) of an overlap matrix. Error: it has an eigenvalue below 1e-8, as functions nearly depend on each other.
Result<Matrix> inverse_square_root(const Matrix& overlap);

// x of a x = b; of a singular matrix one of the solutions.
std::vector<double> solve(const Matrix& a, const std::vector<double>& b);

} // namespace kumihimo::hartree_fock
