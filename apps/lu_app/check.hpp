// Checks of a solution and of the factors.
#pragma once

#include "lu/residual.hpp"
#include "lu_app/factorisation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <vector>

namespace kumihimo::lu_app {

inline constexpr std::int64_t most_rows_of_factors = 1024; // of the check of factors, which gathers the matrix

// A is made again. Collective.
Result<lu::SolutionNorms> norms_of(const std::vector<double>& x, const LuProblem& problem, const LuRequest& request,
                                   ProcessGrid& grid, application::Processes& processes);

// The factors, whole, in the order of rows of the end. Collective.
Result<std::vector<double>> gathered(LuFactorisation& factors, application::Runtime& runtime);

// |P A - L U| <= gamma |L| |U| in every entry, with gamma = n eps / (1 - n eps) (Higham, Accuracy and Stability of
// Numerical Algorithms, theorem 9.3), in whatever order the sums were added; and with row pivoting the pivots of the
// golden copy.
struct FactorCheck {
  double worst = 0;                  // |P A - L U| over its bound, the largest
  std::int64_t different_pivots = 0; // with row pivoting
  bool passed() const { return worst <= 1 && different_pivots == 0; }
};
Result<FactorCheck> check_factors(const std::vector<double>& lu, const std::vector<std::int64_t>& pivots,
                                  const lu::TestMatrix& matrix, bool has_golden_pivots);

// Largest magnitude of U over that of A. Collective.
double growth_of(LuFactorisation& factors, const lu::TestMatrix& matrix, application::Processes& processes);

} // namespace kumihimo::lu_app
