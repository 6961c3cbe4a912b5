// The golden copy: textbook ICCG on plain CRS in natural order, one thread. Tests compare every variant with it, and
// gains are stated against it.
//
// J. A. Meijerink, H. A. van der Vorst, "An iterative solution method for linear systems of which the coefficient
// matrix is a symmetric M-matrix", Mathematics of Computation 31 (1977).
#pragma once

#include "sparse/crs_matrix.hpp"

#include <span>
#include <vector>

namespace kumihimo::sparse::golden {

// M = (D + L) D^-1 (D + L^T) with L of the pattern of A's strict lower triangle.
struct GoldenFactor {
  std::vector<double> lower; // at the place of each entry of A; used left of the diagonal
  std::vector<double> pivot; // D
};

void multiply(const CrsMatrix& a, std::span<const double> x, std::span<double> y);

// IC(0). With `own_lower` L is computed; otherwise L is that of A, and D alone is computed, so that m_ii = a_ii. Error:
// a pivot is not positive, or is rounding of its diagonal entry, with its row.
Result<GoldenFactor> factorise(const CrsMatrix& a, bool own_lower = true);
void precondition(const CrsMatrix& a, const GoldenFactor& factor, std::span<const double> r, std::span<double> z);

struct GoldenSolved {
  int iterations = 0;
  double relative_residual = 0; // |r| / |b| of the recurrence
  bool converged = false;
};
// Conjugate gradients from x until |r| <= tolerance |b|; x = 0 at once if b = 0. Error: factorise(),
// krylov::norm_of_right_side(), or Curvature::check().
Result<GoldenSolved> solve(const CrsMatrix& a, std::span<const double> b, std::span<double> x, double tolerance,
                           int most_iterations);

} // namespace kumihimo::sparse::golden
