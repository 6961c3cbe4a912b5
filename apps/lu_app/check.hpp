// Checks of a solution and of the factors.
#pragma once

#include "lu/residual.hpp"
#include "lu_app/factorisation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <vector>

namespace kumihimo::lu_app {

inline constexpr std::int64_t most_rows_of_factors = 1024; // of the check of factors, which gathers the matrix

double larger(double a, double b); // NaN if one of them is

// A is made again. Collective.
Result<lu::SolutionNorms> norms_of(const std::vector<double>& x, const LuProblem& problem, const LuRequest& request,
                                   ProcessGrid& grid, application::Processes& processes);

// The factors, whole, in the order of rows of the end. Collective.
Result<std::vector<double>> gathered(LuFactorisation& factors, application::Runtime& runtime);

// |P A - L U| <= 2 gamma |L| |U| in every entry, in whatever order the sums were added: gamma = m u / (1 - m u), u the
// unit roundoff, of the factorisation (Higham, Accuracy and Stability of Numerical Algorithms, theorem 9.3, with m = n
// + 1, since columns are multiplied by a rounded reciprocal of the pivot), and as much for the product that checks it.
// Also the pivots of the golden copy of the same pivoting. `rows`: how they were dealt to the rows of the grid.
struct FactorCheck {
  double worst = 0; // |P A - L U| over its bound, the largest
  std::int64_t different_pivots = 0;
  bool passed() const { return worst <= 1 && different_pivots == 0; }
};
Result<FactorCheck> check_factors(const std::vector<double>& lu, const std::vector<std::int64_t>& pivots,
                                  const lu::TestMatrix& matrix, LuVariant::Pivoting pivoting,
                                  const lu::BlockCyclic& rows);

// Largest magnitude of U over that of A. Collective.
double growth_of(LuFactorisation& factors, const lu::TestMatrix& matrix, application::Processes& processes);

} // namespace kumihimo::lu_app
