// Is a matrix or a solution right? By the golden copy and by exact solutions, over all ranks.
#pragma once

#include "application/runtime.hpp"
#include "fem/matrix.hpp"
#include "fem_cube/problem.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>

namespace kumihimo::fem_cube {

// {"what", "right", "error", "bound"}: |b - A x| / |b| of displacements `x`, 3 of each owned node, by the golden copy's
// product, is at most the tolerance plus the rounding of that product and of the variant's (golden.hpp). `load`: the
// variant's b. Collective.
//
// Where the exact displacement u is known: "discretisation_error", |x - u| / |u|. Of the patch test u is that of the
// discrete system too, so A u must be the forces within the rounding of the product: "patch_residual",
// "patch_bound". Where the exact energy is known: "energy_error", (a(u, u) - x b) / a(u, u).
Result<nlohmann::json> check_solution(const FemProblem& problem, std::span<const double> load,
                                      std::span<const double> x, double tolerance, application::Runtime& runtime);

// {"what", "right", "error", "bound"}: the largest difference from the golden copy's matrix, as a share of the bound of
// rounding (fem/error_bound.hpp), is at most 1. Collective.
Result<nlohmann::json> check_matrix(const FemProblem& problem, const fem::BlockMatrix& matrix,
                                    application::Runtime& runtime);

} // namespace kumihimo::fem_cube
