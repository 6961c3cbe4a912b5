// Solves A x = b by a conjugate gradient method, A and the preconditioner symmetric positive definite.
//
// The methods of methods.def differ in how many sums over ranks an iteration needs and in what hides them. All stop by
// the true residual: where the recursive one meets the tolerance, b - A x is computed, and if it misses the tolerance
// the solve goes on from there (residual replacement). Every solve ends: with a solution, or with one sentence.
#pragma once

#include "base/result.hpp"
#include "krylov/linear_system.hpp"
#include "krylov/method.hpp"
#include "krylov/solution.hpp"

#include <span>

namespace kumihimo::krylov {

// x: the initial guess of this rank's rows, and the result. `solution` is filled in errors too; a result that missed
// the tolerance is always an error. Collective over the ranks of `sums`. All get the same ending, also if one rank
// alone fails; then the others' sentence is that another rank failed.
Status solve(const Method& method, LinearSystem& system, Sums& sums, std::span<const double> b, std::span<double> x,
             const SolverOptions& options, Solution& solution);

} // namespace kumihimo::krylov
