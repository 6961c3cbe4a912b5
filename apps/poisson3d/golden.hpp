// The golden copy: ICCG of the textbooks on compressed rows in natural order, one thread. Every variant is checked by
// its product, and gains are stated against it.
//
// J. A. Meijerink, H. A. van der Vorst, "An iterative solution method for linear systems of which the coefficient
// matrix is a symmetric M-matrix", Mathematics of Computation 31 (1977).
#pragma once

#include "krylov/linear_system.hpp"
#include "poisson3d/box_matrix.hpp"

#include <functional>
#include <span>
#include <vector>

namespace kumihimo::poisson3d::golden {

// y = A x. x: rows, then ghosts.
void multiply(const LocalMatrix& a, const double* x, double* y);

// M = (D + L) D^-1 (D + L^T) of the rank's own rows and columns: over ranks block Jacobi, that is additive Schwarz
// without overlap. L is the strict lower triangle of A, which with 7 points is that of IC(0).
struct Factor {
  std::vector<double> pivot; // D
};
// Error: a pivot is not positive, with its row.
Result<Factor> factorise(const LocalMatrix& a);
void precondition(const LocalMatrix& a, const Factor& factor, const double* r, double* z);

struct Options {
  double tolerance = 1e-8; // of |r| / |b|
  std::int64_t most_iterations = 100000;
  bool may_stop_early = false; // at most_iterations: no error
  std::function<void(std::int64_t iteration, double residual)> progress = {};
};
struct Solved {
  std::int64_t iterations = 0;
  std::vector<double> history; // |r| / |b| of the recurrence, before the first iteration and after each
  double norm_b = 0;
  double largest_x = 0; // largest |x| of any iteration, 2-norm
};

// Conjugate gradients from x = 0. Errors: a curvature or product of residuals that is not positive, not finite; more
// than most_iterations; those of the system and the sums. All ranks get the same.
Result<Solved> solve(krylov::LinearSystem& system, krylov::Sums& sums, std::span<const double> b, std::span<double> x,
                     const Options& options);

} // namespace kumihimo::poisson3d::golden
