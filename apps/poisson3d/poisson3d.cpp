// The application poisson3d: one run with one variant, on all ranks.
#include "application/application.hpp"
#include "application/request.hpp"
#include "application/runtime.hpp"
#include "measure/clock.hpp"
#include "poisson3d/golden.hpp"
#include "poisson3d/local_system.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kumihimo::poisson3d {
namespace {

using application::Request, application::Runtime;
using nlohmann::json;

constexpr std::int64_t longest_axis = 4096;

double seconds_since(std::int64_t start) { return static_cast<double>(measure::now_ns() - start) * 1e-9; }

const Variant& variant_of(const Request& request) {
  for (const Variant& each : variants())
    if (each.name == request.candidate.variant->name) return each;
  return variants().front(); // unreachable: both lists are one
}

// Norms over all ranks of b - A x by the golden copy's product, of the error against the manufactured solution, and of
// that solution.
struct Norms {
  double residual = 0, error = 0, exact = 0;
};
Result<Norms> norms_of(const LocalProblem& problem, const std::vector<double>& x, Runtime& runtime) {
  std::unique_ptr<application::GhostExchange> exchange = TRY(runtime.exchange(problem.ghosts));
  std::vector<double> with_ghosts = x, product(x.size());
  with_ghosts.resize(static_cast<std::size_t>(problem.matrix.columns));
  if (Status s = exchange->run(with_ghosts.data()); !s) return s.error();
  golden::multiply(problem.matrix, with_ghosts.data(), product.data());
  std::vector<double> squares(3);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = problem.right_side[i] - product[i], error = x[i] - problem.exact[i];
    squares[0] += residual * residual;
    squares[1] += error * error;
    squares[2] += problem.exact[i] * problem.exact[i];
  }
  squares = runtime.processes().total(squares);
  return Norms{std::sqrt(squares[0]), std::sqrt(squares[1]), std::sqrt(squares[2])};
}

// |A| in the infinity norm.
double norm_of(const LocalMatrix& matrix, Runtime& runtime) {
  double most = 0;
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    double sum = 0;
    for (auto e = matrix.begin[static_cast<std::size_t>(i)]; e < matrix.begin[static_cast<std::size_t>(i) + 1]; ++e)
      sum += std::abs(matrix.value[static_cast<std::size_t>(e)]);
    most = std::max(most, sum);
  }
  return runtime.processes().largest({most})[0];
}

// The solution is right if |b - A x| / |b| is at most the tolerance plus what the recurrence for r may deviate from
// b - A x: eps (k + 7) |A| max |x_k| / |b| after k iterations with rows of 7 entries (A. Greenbaum, "Estimating the
// attainable accuracy of recursively computed residual methods", SIAM J. Matrix Anal. Appl. 18, 1997).
double bound_of(const Request& request, const golden::Solved& solved, double norm_a) {
  const double eps = std::numeric_limits<double>::epsilon();
  const double steps = static_cast<double>(solved.iterations) + 7;
  const double deviation = solved.norm_b > 0 ? eps * steps * norm_a * solved.largest_x / solved.norm_b : 0;
  return request.tolerance + deviation;
}

Result<json> checked(const Request& request, const LocalProblem& problem, const golden::Solved& solved,
                     const std::vector<double>& x, Runtime& runtime) {
  const Norms norms = TRY(norms_of(problem, x, runtime));
  const double residual = solved.norm_b > 0 ? norms.residual / solved.norm_b : norms.residual;
  const double bound = bound_of(request, solved, norm_of(problem.matrix, runtime));
  json found = {{"what", "relative residual by the golden copy's product"},
                {"right", residual <= bound},
                {"error", residual},
                {"bound", bound}};
  if (request.option("rhs") == "manufactured") found["discretisation_error"] = norms.error / norms.exact;
  return found;
}

Result<json> run(const Request& request, Runtime& runtime) {
  Grid grid;
  grid.cells = TRY(application::parse_box(request.size, longest_axis));
  grid.boundary = request.option("boundary") == "all" ? Boundary::all : Boundary::zmax;
  const RightSide right_side = request.option("rhs") == "manufactured" ? RightSide::manufactured : RightSide::ones;
  const application::RankGrid ranks = TRY(runtime.grid(grid.cells));

  const std::int64_t begin = measure::now_ns();
  Result<LocalProblem> problem = make_problem(grid, ranks, runtime.rank(), right_side);
  if (Status s = runtime.agree_on(problem); !s) return s.error();
  std::unique_ptr<LocalSystem> system =
      TRY(LocalSystem::make(*problem, variant_of(request), request.candidate.parameters, runtime));
  TimedSums sums(runtime.sums(), system->times());
  const std::vector<double> b = system->renumbered(problem->right_side);
  std::vector<double> x(b.size());
  const double setup = seconds_since(begin);

  runtime.processes().barrier();
  const std::int64_t start = measure::now_ns();
  golden::Options options{request.tolerance, request.most_iterations, request.may_stop_early, {}};
  options.progress = [&](std::int64_t iteration, double residual) {
    runtime.progress(iteration, residual, request.tolerance);
  };
  const golden::Solved solved = TRY(golden::solve(*system, sums, b, x, options));
  const std::vector<double> seconds = runtime.processes().largest({seconds_since(start), setup});

  const bool converged = solved.history.back() <= request.tolerance;
  json found = {{"seconds", seconds[0]},
                {"setup_seconds", seconds[1]},
                {"iterations", solved.iterations},
                {"residual", solved.history.back()},
                {"converged", converged},
                {"history", solved.history},
                {"unknowns", grid.cells[0] * grid.cells[1] * grid.cells[2]},
                {"grid", ranks.ranks},
                {"facts", system->solver().facts()},
                {"kernels", to_json(system->times(), runtime.processes())}};
  if (request.checks && converged)
    found["checked"] = TRY(checked(request, *problem, solved, system->natural(x), runtime));
  return found;
}

// A quarter along each axis: 1/64 of the unknowns.
std::string smaller_size(std::string_view size) {
  const Result<std::array<std::int64_t, 3>> box = application::parse_box(size, longest_axis);
  if (!box) return {};
  std::array<std::int64_t, 3> less{};
  for (std::size_t a = 0; a < 3; ++a) less[a] = ((*box)[a] + 3) / 4;
  return fmt::format("{}x{}x{}", less[0], less[1], less[2]);
}

std::span<const VariantDescription> descriptions() {
  static const std::vector<VariantDescription> all(variants().begin(), variants().end());
  return all;
}

constexpr std::string_view methods[] = {"cg"};
constexpr std::string_view boundaries[] = {"zmax", "all"};
constexpr std::string_view right_sides[] = {"ones", "manufactured"};
constexpr application::Option options[] = {
    {"boundary", "faces where u = 0: zmax (the others without flux) or all", "FACES", "zmax", boundaries},
    {"rhs", "right-hand side: f = 1, or that of a known solution", "RHS", "ones", right_sides},
};

} // namespace

application::Application description() {
  return {
      .name = "poisson3d",
      .summary = "Poisson equation on a box by conjugate gradients with incomplete Cholesky",
      .paper = "K. Nakajima, ICCG programs with CM-RCM reordering (7-point finite volumes)",
      .sizes = "cells along x, y and z: 128 or 128x96x64",
      .default_size = "64",
      .golden_hash = KUMIHIMO_GOLDEN_HASH,
      .variants = descriptions(),
      .methods = methods,
      .options = options,
      .smaller_size = &smaller_size,
      .run = &run,
  };
}

} // namespace kumihimo::poisson3d
