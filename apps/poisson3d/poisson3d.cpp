// The application poisson3d: one run with one variant, on all ranks.
#include "application/application.hpp"
#include "application/request.hpp"
#include "application/runtime.hpp"
#include "measure/clock.hpp"
#include "poisson3d/check.hpp"
#include "poisson3d/golden.hpp"
#include "poisson3d/local_system.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
  if (request.checks && converged) {
    json checked = TRY(check_solution(*problem, request.tolerance, solved, system->natural(x), runtime));
    if (right_side != RightSide::manufactured) checked.erase("discretisation_error");
    found["checked"] = std::move(checked);
  }
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
