// Whether a solution is right, by the golden copy's product.
#pragma once

#include "application/runtime.hpp"
#include "poisson3d/box_matrix.hpp"
#include "poisson3d/golden.hpp"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace kumihimo::poisson3d {

// A solution is right if |b - A x| / |b| is at most the tolerance plus what the recurrence for r may deviate from
// b - A x: eps (k + 7) |A| max |x_k| / |b| after k iterations with rows of 7 entries (A. Greenbaum, "Estimating the
// attainable accuracy of recursively computed residual methods", SIAM J. Matrix Anal. Appl. 18, 1997).
double bound_of(double tolerance, const golden::Solved& solved, double norm_of_matrix);

// {"what", "right", "error", "bound", "discretisation_error": |x - exact| / |exact|, of a manufactured right-hand
// side}. `x` in the natural numbering of the rank's rows. Collective.
Result<nlohmann::json> check_solution(const LocalProblem& problem, double tolerance, const golden::Solved& solved,
                                      const std::vector<double>& x, application::Runtime& runtime);

} // namespace kumihimo::poisson3d
