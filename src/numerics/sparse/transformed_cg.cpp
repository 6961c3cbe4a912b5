#include "sparse/transformed_cg.hpp"

#include "krylov/right_side.hpp"
#include "sparse/curvature.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kumihimo::sparse {
namespace {

// Adds the squares of blocks of a fixed length in order, so that the number of threads does not matter.
double square(const double* x, std::int64_t n, std::vector<double>& of_block) {
  constexpr std::int64_t length = 2048;
  of_block.resize(static_cast<std::size_t>((n + length - 1) / length));
  const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
  for (std::size_t block = 0; block < of_block.size(); ++block) {
    const std::int64_t begin = static_cast<std::int64_t>(block) * length, end = std::min(n, begin + length);
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += x[i] * x[i];
    of_block[block] = sum;
  }
  double sum = 0;
  for (const double each : of_block) sum += each;
  return sum;
}

} // namespace

Result<TransformedSolution> solve_transformed(const PreparedSystem& system, const double* b, double* x,
                                              double tolerance, int most_iterations,
                                              const TransformedProgress& progress, const AtIteration& at_iteration) {
  if (!system.is_transformed())
    return not_applicable(fmt::format("variant {} has no transformed system", system.variant().description.name), {},
                          "use an eisenstat variant, on one rank");
  const std::int64_t n = system.rows();
  std::vector<double> of_block;
  const bool has_nonzero = std::any_of(b, b + n, [](double each) { return each != 0; });
  const double norm_b = TRY(krylov::norm_of_right_side(square(b, n, of_block), has_nonzero)), goal = tolerance * norm_b;
  TransformedSolution solved;
  if (norm_b == 0) {
    std::fill_n(x, n, 0.0);
    solved.converged = true;
    solved.history.push_back(0);
    return solved;
  }
  using Vector = threads::ThreadedArray<double>;
  Vector p = TRY(Vector::zeros(n)), t = TRY(Vector::zeros(n)), u = TRY(Vector::zeros(n)), r = TRY(Vector::zeros(n)),
         step = TRY(Vector::zeros(n));
  system.multiply(x, u.data());
  const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
  for (std::int64_t i = 0; i < n; ++i) t[i] = b[i] - u[i];
  system.transform_residual(t.data(), r.data());

  Curvature curvatures;
  double residual = std::sqrt(square(t.data(), n, of_block));
  double rho = square(r.data(), n, of_block), transformed = std::sqrt(rho), beta = 0;
  const auto rows = static_cast<std::size_t>(n);
  const auto state = [&](StateList& list) {
    list.number("iterations", solved.iterations).vector("history", solved.history);
    list.number("curvatures", curvatures)
        .number("residual", residual)
        .number("rho", rho)
        .number("transformed", transformed)
        .number("beta", beta);
    list.array("x", std::span(x, rows)).array("r", r.span()).array("p", p.span()).array("step", step.span());
  };
  for (;; ++solved.iterations) {
    if (at_iteration) TRY(at_iteration(solved.iterations, state));
    const double ratio = transformed > 0 ? residual / transformed : 0;
    const double now = std::sqrt(rho);
    const bool ends = solved.iterations == most_iterations || rho == 0;
    if (ends || now * ratio <= goal || solved.iterations % check_interval == 0) {
      residual = system.residual_norm(r.data());
      transformed = now;
      solved.relative_residual = residual / norm_b;
      solved.converged = residual <= goal;
      if (!std::isfinite(residual))
        return failed(fmt::format("the residual is not finite after {} iterations", solved.iterations), {},
                      "check the right side and the matrix for huge values");
      if (ends || solved.converged) {
        solved.history.push_back(solved.relative_residual);
        break;
      }
    }
    solved.history.push_back(now * ratio / norm_b);
    if (progress && !progress(solved.iterations, solved.history.back())) break;
    system.search_direction(beta, r.data(), p.data(), t.data());
    const double curvature = system.curvature(p.data(), t.data(), u.data());
    TRY(curvatures.check(curvature, rho, beta, solved.history.back(), tolerance));
    const double next = system.advance(rho / curvature, t.data(), u.data(), r.data(), step.data());
    beta = next / rho;
    rho = next;
  }
  system.add_solution(step.data(), x);
  return solved;
}

} // namespace kumihimo::sparse
