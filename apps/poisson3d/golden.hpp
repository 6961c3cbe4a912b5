// The golden copy over ranks: conjugate gradients of the textbooks, plain loops, one thread. Product and IC(0) of a
// rank's rows are those of sparse/golden.hpp: over ranks block Jacobi, that is additive Schwarz without overlap. Every
// solution is checked by that product.
#pragma once

#include "base/state_list.hpp"
#include "krylov/linear_system.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kumihimo::poisson3d::golden {

struct GoldenCgOptions {
  double tolerance = 1e-8; // of |r| / |b|
  std::int64_t most_iterations = 100000;
  bool may_stop_early = false; // at most_iterations: no error
  std::function<void(std::int64_t iteration, double residual)> progress = {};
  AtIteration at_iteration = {}; // saves the solve, or goes back to a saved one
};
struct GoldenCgSolved {
  std::int64_t iterations = 0;
  std::vector<double> history; // |r| / |b| of the recurrence, before the first iteration and after each
  double norm_b = 0;
  double largest_x = 0; // largest |x| of any iteration, 2-norm
};

// Conjugate gradients from x = 0. Errors: b is tiny or huge (krylov::norm_of_right_side()); a curvature or product of
// residuals that is not positive, not finite; more than most_iterations; those of the system and the sums. All ranks
// end together: where one rank alone fails, the next sum tells the others, whose error is that another rank failed.
Result<GoldenCgSolved> solve(krylov::LinearSystem& system, krylov::Sums& sums, std::span<const double> b,
                             std::span<double> x, const GoldenCgOptions& options);

} // namespace kumihimo::poisson3d::golden
