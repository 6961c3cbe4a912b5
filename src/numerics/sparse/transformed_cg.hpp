// Conjugate gradients in the transformed system, for variants with is_transformed().
#pragma once

#include "base/state_list.hpp"
#include "sparse/prepared_system.hpp"

#include <functional>
#include <vector>

namespace kumihimo::sparse {

struct TransformedSolution {
  int iterations = 0;
  double relative_residual = 0; // |r| / |b| of the recurrence
  bool converged = false;
  std::vector<double> history; // |r| / |b| before the first iteration and after each, most of them estimated
};
// Called after each iteration with the estimate; false stops the solve.
using TransformedProgress = std::function<bool(int iterations, double relative_residual)>;

// `at_iteration` saves the solve, or goes back to a saved one. From x until |r| <= tolerance |b|, or at once with x = 0
// if b = 0. r is the residual of the recurrence: rounding makes b - A x differ from it, which a caller must check. Each
// iteration knows the norm of the transformed residual alone; that of r is computed, at the price of half a product,
// when the last ratio of the two says that it is small enough, and every `check_interval` iterations. b and x are in
// the system's order. Error: the system is not transformed, a value is not finite, b is tiny or huge
// (krylov::norm_of_right_side()), not enough memory, or Curvature::check(): the matrix is singular or not positive
// definite, or the tolerance is out of reach.
Result<TransformedSolution> solve_transformed(const PreparedSystem& system, const double* b, double* x,
                                              double tolerance, int most_iterations,
                                              const TransformedProgress& progress = {},
                                              const AtIteration& at_iteration = {});
inline constexpr int check_interval = 32;

} // namespace kumihimo::sparse
