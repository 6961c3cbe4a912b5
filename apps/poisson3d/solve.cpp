#include "poisson3d/solve.hpp"

#include "application/checkpoints.hpp"
#include "application/krylov_run.hpp"
#include "measure/clock.hpp"
#include "poisson3d/golden.hpp"
#include "sparse/transformed_cg.hpp"
#include "threads/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kumihimo::poisson3d {
namespace {

using application::ApplicationRequest, application::Runtime;

Error limit_reached(const ApplicationRequest& request, std::int64_t iterations, double residual) {
  return failed(fmt::format("the residual is {:.3g} after {} iterations, above the tolerance {:g}", residual,
                            iterations, request.tolerance),
                {}, "raise --max-iterations or the tolerance");
}

// |b - A x| / |b| over all ranks, by the system's product.
Result<double> residual_of(PoissonSystem& system, krylov::Sums& sums, std::span<const double> b,
                           std::span<const double> x) {
  std::vector<double> with_ghosts(static_cast<std::size_t>(system.length())), product(b.size());
  std::copy(x.begin(), x.end(), with_ghosts.begin());
  if (Status s = system.multiply(with_ghosts.data(), product.data()); !s) return s.error();
  std::array<double, 2> squares{};
  for (std::size_t i = 0; i < b.size(); ++i) {
    squares[0] += (b[i] - product[i]) * (b[i] - product[i]);
    squares[1] += b[i] * b[i];
  }
  if (Status s = sums.sum(squares); !s) return s.error();
  return std::sqrt(squares[1] > 0 ? squares[0] / squares[1] : squares[0]);
}

Error stagnation(double residual, double tolerance) {
  return failed(fmt::format("the residual stagnates at {:.3g}, above the tolerance {:g}", residual, tolerance), {},
                "raise the tolerance");
}

// The recurrence for r stops the loops of the textbooks; what it may deviate from b - A x after k iterations is
// eps (k + n) |A| max |x_k| / |b| with n the most entries of a row (A. Greenbaum, "Estimating the attainable accuracy
// of recursively computed residual methods", SIAM J. Matrix Anal. Appl. 18, 1997).
Result<Solved> solve_golden(const ApplicationRequest& request, PoissonSystem& system, krylov::Sums& sums,
                            std::span<const double> b, std::span<double> x, const MatrixNorms& norms,
                            Runtime& runtime) {
  golden::GoldenCgOptions options{request.tolerance, request.most_iterations, request.may_stop_early, {}};
  options.progress = [&](std::int64_t iteration, double residual) {
    runtime.progress(iteration, residual, request.tolerance);
  };
  options.at_iteration = runtime.checkpoints().hook();
  golden::GoldenCgSolved found = TRY(golden::solve(system, sums, b, x, options));
  Solved solved{found.iterations, found.history.back() <= request.tolerance, std::move(found.history)};
  if (!solved.converged) return solved; // a sample
  solved.history.back() = TRY(residual_of(system, sums, b, x));
  const double steps = static_cast<double>(found.iterations) + norms.longest_row;
  if (found.norm_b > 0)
    solved.deviation = std::numeric_limits<double>::epsilon() * steps * norms.infinity * found.largest_x / found.norm_b;
  if (solved.history.back() > 2 * request.tolerance) return stagnation(solved.history.back(), request.tolerance);
  return solved;
}

double norm(std::span<const double> x) {
  double sum = 0;
  for (const double each : x) sum += each * each;
  return std::sqrt(sum);
}

// |b - A x| / |b| by the system's product.
double residual_of(const sparse::PreparedSystem& system, std::span<const double> b, std::span<const double> x,
                   threads::ThreadedArray<double>& product) {
  system.multiply(x.data(), product.data());
  for (std::size_t i = 0; i < b.size(); ++i)
    product[static_cast<std::int64_t>(i)] = b[i] - product[static_cast<std::int64_t>(i)];
  const double norm_b = norm(b), found = norm(product.span());
  return norm_b > 0 ? found / norm_b : found;
}

// Goes on from x where the true residual misses what the recurrence says, as long as that gains a factor of two.
Result<Solved> solve_transformed(const ApplicationRequest& request, PoissonSystem& system, std::span<const double> b,
                                 std::span<double> x, Runtime& runtime) {
  const sparse::PreparedSystem& prepared = *system.solver().transformed();
  // The two sweeps take as many operations as a product less the diagonal; the fused updates and dots 14 a row.
  const double rows = prepared.rows(), flops = system.solver().work_of_product().flops - 2 * rows + 14 * rows;
  const std::size_t row = system.times().declare(
      "transformed iteration", {static_cast<double>(prepared.bytes_of_transformed_iteration()), flops});
  threads::ThreadedArray<double> product = TRY(threads::ThreadedArray<double>::zeros(prepared.rows()));
  Solved solved;
  double before = std::numeric_limits<double>::infinity();
  for (;;) {
    const std::int64_t begin = measure::now_ns();
    std::int64_t done = solved.iterations, made = 0; // before this call, which a restart changes; in it
    const auto progress = [&](int iterations, double residual) {
      ++made;
      runtime.progress(done + iterations, residual, request.tolerance);
      return done + iterations < request.most_iterations;
    };
    const AtIteration hook = runtime.checkpoints().hook();
    const auto at_iteration = [&](std::int64_t iterations, const FillState& inner) -> Result<bool> {
      return hook(done + iterations, [&](StateList& list) {
        list.number("iterations before", done).vector("history before", solved.history);
        list.number("residual before", before);
        inner(list);
      });
    };
    sparse::TransformedSolution found =
        TRY(sparse::solve_transformed(prepared, b.data(), x.data(), request.tolerance, std::numeric_limits<int>::max(),
                                      progress, hook ? AtIteration(at_iteration) : AtIteration()));
    solved.iterations = done + found.iterations;
    system.times().add(row, made, measure::seconds_since(begin));
    if (!solved.history.empty()) solved.history.pop_back();
    solved.history.insert(solved.history.end(), found.history.begin(), found.history.end());
    const double residual = residual_of(prepared, b, x, product);
    solved.history.back() = residual;
    solved.converged = residual <= request.tolerance;
    if (solved.converged) return solved;
    if (solved.iterations >= request.most_iterations) {
      if (request.may_stop_early) return solved;
      return limit_reached(request, solved.iterations, residual);
    }
    if (!(residual < before / 2)) return stagnation(residual, request.tolerance);
    before = residual;
  }
}

Result<Solved> solve_krylov(const ApplicationRequest& request, PoissonSystem& system, krylov::Sums& sums,
                            std::span<const double> b, std::span<double> x, Runtime& runtime) {
  application::KrylovRun found = TRY(application::run_krylov(request, system, system.times(), sums, b, x, runtime));
  return Solved{found.iterations, found.converged, std::move(found.history), 0, std::move(found.facts)};
}

} // namespace

Result<Solved> solve(const ApplicationRequest& request, PoissonSystem& system, krylov::Sums& sums,
                     std::span<const double> b, std::span<double> x, const MatrixNorms& norms, Runtime& runtime) {
  if (request.method == "cg") {
    if (request.candidate.variant->name == "golden") return solve_golden(request, system, sums, b, x, norms, runtime);
    // A rank without ghosts among others must take part in their sums.
    if (runtime.ranks() == 1 && system.solver().transformed()) return solve_transformed(request, system, b, x, runtime);
  }
  return solve_krylov(request, system, sums, b, x, runtime);
}

} // namespace kumihimo::poisson3d
