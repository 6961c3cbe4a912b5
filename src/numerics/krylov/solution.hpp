// What a solve is asked for, and what it returns.
#pragma once

#include "base/parameter.hpp"
#include "base/state_list.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace kumihimo::krylov {

struct SolverProgress {
  std::int64_t iteration = 0;
  double residual = 0; // recursive, relative to ||b||
};

struct SolverOptions {
  double tolerance = 1e-8; // of ||b - A x|| / ||b||, 2-norms
  std::int64_t max_iterations = 100000;
  // Residual replacement: r and what is updated from it are computed by their definitions again. Either after so many
  // iterations, or when the estimated deviation of r from b - A x exceeds this share of ||r||; 0: not for this reason.
  std::int64_t replace_every = 0;
  double largest_deviation = 1e-8;
  std::int64_t patience = 10000; // iterations without a new least residual until the solve is said to stagnate
  ParameterValues parameters;    // of the method
  // Called after each iteration; false stops the solve on all ranks, also if only one rank says so.
  std::function<bool(const SolverProgress&)> progress;
  // Saves the solve, or goes back to a saved one. Null: nothing.
  AtIteration at_iteration = {};
};

// Of this rank.
struct SolverSeconds {
  double product = 0, preconditioner = 0, dots = 0, updates = 0, waiting = 0; // waiting: for sums
  double total = 0;
};

enum class Ending {
  converged,
  iteration_limit,
  indefinite_matrix,
  indefinite_preconditioner,
  stagnation,
  not_finite,
  stopped,      // by the caller
  system_failed // a product, a preconditioner, a sum or memory
};

// Residuals and deviations are relative to ||b||.
struct Solution {
  Ending ending = Ending::converged;
  std::int64_t iterations = 0, replacements = 0;
  double residual = 0;            // ||b - A x||, computed from x
  double largest_deviation = 0;   // ||(b - A x) - r|| before a replacement or at the end
  double estimated_deviation = 0; // at that place, by the method's estimate
  std::vector<double> history;    // ||r||, recursive, before the first iteration and after each
  SolverSeconds seconds;
};

} // namespace kumihimo::krylov
