// Solves A x = b by a conjugate gradient method, A and the preconditioner symmetric positive definite.
//
// The methods of methods.def differ in how many sums over ranks an iteration needs and in what hides them. All stop by
// the true residual: where the recursive one meets the tolerance, b - A x is computed, and if it misses the tolerance
// the solve goes on from there (residual replacement). Every solve ends: with a solution, or with one sentence.
#pragma once

#include "base/parameter.hpp"
#include "base/result.hpp"
#include "krylov/linear_system.hpp"
#include "krylov/method.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kumihimo::krylov {

struct Progress {
  std::int64_t iteration = 0;
  double residual = 0; // recursive, relative to ||b||
};

struct Options {
  double tolerance = 1e-8; // of ||b - A x|| / ||b||, 2-norms
  std::int64_t max_iterations = 100000;
  // Residual replacement: r and what is updated from it are computed by their definitions again. Either after so many
  // iterations, or when the estimated deviation of r from b - A x exceeds this share of ||r||; 0: not for this reason.
  std::int64_t replace_every = 0;
  double largest_deviation = 1e-8;
  std::int64_t patience = 10000; // iterations without a new least residual until the solve is said to stagnate
  ParameterValues parameters;    // of the method
  // Called after each iteration; false stops the solve on all ranks, also if only one rank says so.
  std::function<bool(const Progress&)> progress;
};

// Of this rank.
struct Seconds {
  double product = 0, preconditioner = 0, dots = 0, updates = 0, waiting = 0; // waiting: for sums
  double total = 0;
};

enum class Ending {
  converged,
  iteration_limit,
  indefinite_matrix,
  indefinite_preconditioner,
  breakdown,
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
  double estimated_deviation = 0; // at that place, by the method's estimate; 0: it has none
  std::vector<double> history;    // ||r||, recursive, before the first iteration and after each
  Seconds seconds;
};

// x: the initial guess of this rank's rows, and the result. `solution` is filled in errors too; a result that missed
// the tolerance is always an error. Collective over the ranks of `sums`; all get the same ending.
Status solve(const Method& method, LinearSystem& system, Sums& sums, std::span<const double> b, std::span<double> x,
             const Options& options, Solution& solution);

} // namespace kumihimo::krylov
