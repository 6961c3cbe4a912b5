// The application poisson3d: one run with one variant, on all ranks.
#include "application/application.hpp"
#include "application/krylov_run.hpp"
#include "application/request.hpp"
#include "application/runtime.hpp"
#include "application/timed_sums.hpp"
#include "measure/clock.hpp"
#include "poisson3d/check.hpp"
#include "poisson3d/matrix_file.hpp"
#include "poisson3d/solve.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace kumihimo::poisson3d {
namespace {

using application::ApplicationRequest, application::Runtime;
using nlohmann::json;

constexpr std::int64_t longest_axis = 4096;
// The matrix with 7 entries a row (100), a factor of half as many (92), and vectors (48).
constexpr double least_bytes_of_a_row = 240;

Result<LocalProblem> problem_of(const ApplicationRequest& request, const CellGrid& grid,
                                const application::RankGrid& ranks, Runtime& runtime) {
  if (const std::string& path = request.option("matrix"); !path.empty())
    return read_problem(path, runtime.rank(), runtime.ranks());
  const RightSide right_side = request.option("rhs") == "manufactured" ? RightSide::manufactured : RightSide::ones;
  Result<LocalProblem> made = make_problem(grid, ranks, runtime.rank(), right_side);
  if (made && right_side == RightSide::ones) made->exact.clear();
  return made;
}

// What all candidates of a task share.
struct SharedByCandidates {
  LocalProblem problem;
  double problem_seconds = 0;
  sparse::Factorisations factorisations;
};

Result<SharedByCandidates> shared_of(const ApplicationRequest& request, const CellGrid& grid,
                                     const application::RankGrid& ranks, Runtime& runtime) {
  const std::int64_t begin = measure::now_ns();
  SharedByCandidates made;
  made.problem = TRY(problem_of(request, grid, ranks, runtime));
  made.problem_seconds = measure::seconds_since(begin);
  return made;
}

Result<json> run(const ApplicationRequest& request, Runtime& runtime) {
  const bool of_file = !request.option("matrix").empty();
  CellGrid grid;
  grid.boundary = request.option("boundary") == "all" ? Boundary::all : Boundary::zmax;
  application::RankGrid ranks{{1, 1, runtime.ranks()}};
  if (!of_file) {
    grid.cells = TRY(application::parse_box(request.size, longest_axis));
    ranks = TRY(runtime.grid(grid.cells));
    const double cells = static_cast<double>(grid.cells[0]) * grid.cells[1] * grid.cells[2] / runtime.ranks();
    const bool is_first = !runtime.has_shared(); // later candidates have the memory of the one before
    if (Status s = runtime.agree(is_first ? runtime.check_memory(least_bytes_of_a_row * cells) : Status(Nothing{})); !s)
      return s.error();
  } else if (request.option("rhs") == "manufactured")
    return wrong_value("rhs=manufactured needs the box; beside a matrix file b = 1", "manufactured",
                       "leave out rhs or matrix");

  const std::shared_ptr<SharedByCandidates> shared =
      TRY(runtime.shared<SharedByCandidates>([&] { return shared_of(request, grid, ranks, runtime); }));
  const LocalProblem& problem = shared->problem;
  const std::int64_t begin = measure::now_ns();
  std::unique_ptr<PoissonSystem> system =
      TRY(PoissonSystem::make(problem, application::variant_of(request.candidate, variants()),
                              request.candidate.parameters, shared->factorisations, runtime));
  application::TimedSums sums(runtime.sums(), system->times());
  Result<threads::ThreadedArray<double>> b = system->renumbered(problem.right_side),
                                         x = threads::ThreadedArray<double>::zeros(system->rows());
  if (Status s = runtime.agree_on(b); !s) return s.error();
  if (Status s = runtime.agree_on(x); !s) return s.error();
  const MatrixNorms norms = norms_of(problem.matrix, runtime);
  const double setup = measure::seconds_since(begin) + system->solver().kept_seconds();

  runtime.processes().barrier();
  const std::int64_t start = measure::now_ns();
  const Solved solved = TRY(solve(request, *system, sums, b->span(), x->span(), norms, runtime));
  const std::vector<double> seconds =
      runtime.processes().largest({measure::seconds_since(start), setup, shared->problem_seconds});

  json facts = system->solver().facts();
  facts.update(*solved.facts);
  json found = {{"seconds", seconds[0]},
                {"setup_seconds", seconds[1]},
                {"problem_seconds", seconds[2]},
                {"iterations", solved.iterations},
                {"residual", solved.history.back()},
                {"converged", solved.converged},
                {"history", solved.history},
                {"unknowns", runtime.processes().total({static_cast<double>(system->rows())})[0]},
                {"grid", ranks.ranks},
                {"facts", std::move(facts)},
                {"kernels", to_json(system->times(), runtime.processes())}};
  if (request.checks && solved.converged)
    found["checked"] =
        TRY(check_solution(problem, system->natural(x->span()), request.tolerance, solved.deviation, runtime));
  return found;
}

std::string shared_set_up(const application::RequestedVariant& candidate) {
  const PoissonVariant& variant = application::variant_of(candidate, variants());
  if (!variant.prepared) return {};
  const sparse::FactorChoice choice =
      sparse::factor_choice(*variant.prepared, with_defaults(variant.parameters, candidate.parameters));
  return fmt::format("{} {} {} {}", choice.colours, static_cast<int>(choice.order), choice.sigma,
                     static_cast<int>(choice.off_diagonals));
}

std::vector<application::ProblemShare> shares(std::string_view size) {
  return application::shares_of_box(size, longest_axis, 20'000);
}

constexpr std::string_view usual[] = {"eisenstat-rows",      "eisenstat", "eisenstat-sell", "amg",
                                      "eisenstat-coalesced", "BR-1"};

constexpr std::string_view boundaries[] = {"zmax", "all"};
constexpr std::string_view right_sides[] = {"ones", "manufactured"};
constexpr application::ApplicationOption options[] = {
    {"boundary", "faces where u = 0: zmax (the others without flux) or all", "FACES", "zmax", boundaries},
    {"matrix", "Matrix Market file of a symmetric positive definite matrix, instead of the box", "FILE", {}, {}, true},
    {"rhs", "right-hand side: f = 1, or that of a known solution", "RHS", "ones", right_sides},
};

} // namespace

application::Application description() {
  return {
      .name = "poisson3d",
      .summary = "Poisson equation on a box by conjugate gradients with incomplete Cholesky",
      .paper = "K. Nakajima, ICCG programs with CM-RCM(m) reordering (7-point finite volumes)",
      .sizes = "cells along x, y and z: 128 or 128x96x64",
      .default_size = "64",
      .golden_hash = KUMIHIMO_GOLDEN_HASH,
      .variants = application::descriptions(variants()),
      .methods = application::krylov_methods(),
      .options = options,
      .shares = &shares,
      .usual = usual,
      .shared_set_up = &shared_set_up,
      .has_tolerance = true,
      .restart_on = [](const ApplicationRequest&) { return application::RestartOn::same_ranks; },
      .run = &run,
  };
}

} // namespace kumihimo::poisson3d
