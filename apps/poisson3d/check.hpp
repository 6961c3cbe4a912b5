// Is a solution right? By the golden copy's product and by the manufactured solution, over all ranks.
#pragma once

#include "application/runtime.hpp"
#include "poisson3d/box_matrix.hpp"
#include "poisson3d/solve.hpp"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace kumihimo::poisson3d {

// Collective.
MatrixNorms norms_of(const sparse::CrsMatrix& matrix, application::Runtime& runtime);

// {"what", "right", "error", "bound"}: |b - A x| / |b| of `x`, in the matrix's numbering, is at most the tolerance plus
// `deviation` plus the rounding of this product, (n + 1) eps |A| |x| / |b| with n the most entries of a row;
// "discretisation_error": |x - u| / |u| where the exact solution u is known. Collective.
Result<nlohmann::json> check_solution(const LocalProblem& problem, const std::vector<double>& x, double tolerance,
                                      double deviation, application::Runtime& runtime);

} // namespace kumihimo::poisson3d
