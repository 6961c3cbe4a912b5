#include "sparse/curvature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kumihimo::sparse {

Status Curvature::check(double curvature, double rho, double beta, double residual, double tolerance) {
  using Limits = std::numeric_limits<double>;
  if (!std::isfinite(curvature) || !std::isfinite(rho))
    return failed("the curvature p.Ap of a search direction p is not finite", fmt::format("{}", curvature),
                  "check the right side and the matrix for huge values");
  square_ = rho + beta * beta * square_;
  if (std::abs(curvature) < Limits::min() || square_ < Limits::min())
    return failed(fmt::format("the residual stagnates at {:.3g}, above the tolerance {:g}", residual, tolerance), {},
                  "raise the tolerance");
  const double quotient = curvature / square_;
  largest_ = std::max(largest_, std::abs(quotient));
  if (std::abs(quotient) <= roundings_of_a_zero * Limits::epsilon() * largest_)
    return failed("the matrix is singular or nearly so",
                  fmt::format("a search direction p has p.Ap = {:.3g}, which is rounding", curvature),
                  "check the boundary conditions");
  if (curvature < 0)
    return failed("the matrix is not positive definite",
                  fmt::format("a search direction p has p.Ap = {:.3g}", curvature));
  return Nothing{};
}

} // namespace kumihimo::sparse
