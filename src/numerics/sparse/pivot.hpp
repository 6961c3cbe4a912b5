// The errors of a pivot of an incomplete Cholesky factorisation.
#pragma once

#include "sparse/curvature.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace kumihimo::sparse {

inline double least_pivot(double diagonal) {
  return roundings_of_a_zero * std::numeric_limits<double>::epsilon() * diagonal;
}

// For a pivot that is not above least_pivot(). `row`: from 1; `advice`: for a pivot that is negative.
inline Error pivot_error(std::int64_t row, double pivot, double diagonal, const char* advice) {
  if (std::abs(pivot) <= least_pivot(diagonal))
    return failed("the matrix is singular or nearly so",
                  fmt::format("the pivot of row {} is {:.3g}, which is rounding of its diagonal entry {:.3g}", row,
                              pivot, diagonal),
                  "check the boundary conditions");
  return failed(fmt::format("the incomplete Cholesky factorisation breaks down at row {}", row),
                fmt::format("its pivot is {}", pivot), advice);
}

} // namespace kumihimo::sparse
