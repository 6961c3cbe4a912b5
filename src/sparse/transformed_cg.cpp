#include "sparse/transformed_cg.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kumihimo::sparse {
namespace {

double norm(const double* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

} // namespace

Result<TransformedSolution> solve_transformed(const PreparedSystem& system, const double* b, double* x,
                                              double tolerance, int most_iterations,
                                              const TransformedProgress& progress) {
  if (!system.is_transformed())
    return not_applicable(fmt::format("variant {} has no transformed system", system.variant().description.name), {},
                          "use an eisenstat variant, on one rank");
  const std::int64_t n = system.rows();
  using Vector = threads::Array<double>;
  Vector p = TRY(Vector::zeros(n)), t = TRY(Vector::zeros(n)), u = TRY(Vector::zeros(n)), r = TRY(Vector::zeros(n)),
         step = TRY(Vector::zeros(n));
  system.multiply(x, u.data());
  for (std::int64_t i = 0; i < n; ++i) t[i] = b[i] - u[i];
  system.transform_residual(t.data(), r.data());

  const double norm_b = norm(b, n), goal = tolerance * norm_b;
  TransformedSolution solved;
  double residual = norm(t.data(), n), transformed = norm(r.data(), n);
  double rho = transformed * transformed, beta = 0;
  for (;; ++solved.iterations) {
    const double ratio = transformed > 0 ? residual / transformed : 0;
    const double now = std::sqrt(rho);
    const bool ends = solved.iterations == most_iterations || rho == 0;
    if (ends || now * ratio <= goal || solved.iterations % check_interval == 0) {
      residual = system.residual_norm(r.data());
      transformed = now;
      solved.relative_residual = norm_b > 0 ? residual / norm_b : residual;
      solved.converged = residual <= goal;
      if (!std::isfinite(residual))
        return failed(fmt::format("the residual is not finite after {} iterations", solved.iterations), {},
                      "check the right side and the matrix for huge values");
      if (ends || solved.converged) {
        solved.history.push_back(solved.relative_residual);
        break;
      }
    }
    solved.history.push_back(norm_b > 0 ? now * ratio / norm_b : now * ratio);
    if (progress && !progress(solved.iterations, solved.history.back())) break;
    system.search_direction(beta, r.data(), p.data(), t.data());
    const double curvature = system.curvature(p.data(), t.data(), u.data());
    if (!(curvature > 0))
      return failed("the matrix is not positive definite",
                    fmt::format("a search direction p has p.Ap = {}", curvature));
    const double next = system.advance(rho / curvature, t.data(), u.data(), r.data(), step.data());
    beta = next / rho;
    rho = next;
  }
  system.add_solution(step.data(), x);
  return solved;
}

} // namespace kumihimo::sparse
