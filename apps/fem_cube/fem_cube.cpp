// The application fem-cube: one run with one variant, on all ranks.
#include "application/application.hpp"
#include "application/krylov_run.hpp"
#include "application/request.hpp"
#include "application/runtime.hpp"
#include "application/timed_sums.hpp"
#include "fem_cube/check.hpp"
#include "fem_cube/local_system.hpp"
#include "measure/clock.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace kumihimo::fem_cube {
namespace {

using application::ApplicationRequest, application::Runtime;
using nlohmann::json;

constexpr std::int64_t longest_axis = 4096;

Result<fem::Triple> nodes_of(std::string_view size) {
  const fem::Triple nodes = TRY(application::parse_box(size, longest_axis));
  for (const std::int64_t n : nodes)
    if (n < 2) return wrong_value("the cube needs at least 2 nodes along each axis", n);
  return nodes;
}

// The kernel row of the assembly: one of them, whose time is the median. Collective.
json assembly_row(const AssemblyTime& assembly, bool of_setup, Runtime& runtime) {
  application::KernelTimes times;
  times.add(times.declare("assembly", assembly.work, of_setup), 1, assembly.seconds);
  return to_json(times, runtime.processes())[0];
}

json assembly_figures(const json& row, const FemProblem& problem) {
  const double seconds = row["seconds"], elements = problem.elements_of_cube();
  if (seconds <= 0) return {{"elements", elements}};
  return {{"elements", elements},
          {"assembly_seconds", seconds},
          {"elements_per_second", elements / seconds},
          {"assembly_flops_per_second", row["flops"].get<double>() / seconds}};
}

json facts_of(const FemProblem& problem) {
  json facts = json::object();
  if (problem.mesh.grid.ghosts() > 0) facts["halo"] = problem.halo->of_equal_boxes() ? "equal boxes" : "lists of nodes";
  return facts;
}

struct FemSetting {
  FemOptions options;
  FemVariant variant;
  application::RankGrid ranks;
  double problem_seconds = 0;
};

Result<json> run_assembly(const ApplicationRequest& request, const FemSetting& setting, const FemProblem& problem,
                          Runtime& runtime) {
  const Assembled assembled =
      TRY(assemble(problem, setting.variant, request.candidate.parameters, setting.options.assemblies, runtime));
  json row = assembly_row(assembled.time, false, runtime);
  json found = {{"seconds", row["seconds"]}, {"setup_seconds", 0}, {"iterations", 0},
                {"residual", nullptr},       {"converged", true},  {"history", json::array()},
                {"facts", facts_of(problem)}};
  found.update(assembly_figures(row, problem));
  found["kernels"] = json::array({std::move(row)});
  if (request.checks) found["checked"] = TRY(check_matrix(problem, assembled.matrix, runtime));
  return found;
}

// The prescribed displacements, 0 elsewhere: the residual begins, and stays, 0 in their rows.
Result<threads::ThreadedArray<double>> first_guess(const FemProblem& problem) {
  threads::ThreadedArray<double> x = TRY(threads::ThreadedArray<double>::zeros(problem.owned_displacements()));
  std::copy_n(problem.load_case.constraints.values.begin(), x.size(), x.begin());
  return x;
}

Result<json> run_solve(const ApplicationRequest& request, const FemSetting& setting, const FemProblem& problem,
                       Runtime& runtime) {
  const std::int64_t begin = measure::now_ns();
  Discretised discretised =
      TRY(discretise(problem, setting.variant, request.candidate.parameters, setting.options.assemblies, runtime));
  Result<std::unique_ptr<Preconditioner>> preconditioner =
      make_preconditioner(setting.options, *discretised.discrete, setting.variant.is_golden());
  if (Status s = runtime.agree_on(preconditioner); !s) return s.error();
  FemSystem system(problem, std::move(discretised.discrete), std::move(*preconditioner));
  application::TimedSums sums(runtime.sums(), system.times());
  Result<threads::ThreadedArray<double>> x = first_guess(problem);
  if (Status s = runtime.agree_on(x); !s) return s.error();
  const double setup = measure::seconds_since(begin);

  runtime.processes().barrier();
  const std::int64_t start = measure::now_ns();
  const application::KrylovRun solved =
      TRY(application::run_krylov(request, system, system.times(), sums, system.load(), x->span(), runtime));
  const std::vector<double> seconds = runtime.processes().largest({measure::seconds_since(start), setup});

  json facts = facts_of(problem);
  facts.update(*system.preconditioner().facts);
  facts.update(*solved.facts);
  json kernels = to_json(system.times(), runtime.processes());
  json found = {{"seconds", seconds[0]},           {"setup_seconds", seconds[1]},
                {"iterations", solved.iterations}, {"residual", solved.history.back()},
                {"converged", solved.converged},   {"history", solved.history},
                {"facts", std::move(facts)}};
  if (setting.variant.assembly) {
    json row = assembly_row(discretised.assembly, true, runtime);
    found.update(assembly_figures(row, problem));
    kernels.push_back(std::move(row));
  }
  found["kernels"] = std::move(kernels);
  if (request.checks && solved.converged)
    found["checked"] = TRY(check_solution(problem, system.load(), x->span(), request.tolerance, runtime));
  return found;
}

Result<json> run(const ApplicationRequest& request, Runtime& runtime) {
  FemSetting setting;
  setting.options = TRY(options_of(request));
  setting.variant = application::variant_of(request.candidate, variants());
  if (Status s = setting.variant.check_applicable(setting.options); !s) return s.error();
  const fem::Triple nodes = TRY(nodes_of(request.size));
  setting.ranks = TRY(runtime.grid(nodes));
  // 27 blocks of 3 x 3 with their columns; without a matrix coordinates, elements and vectors.
  const double least_bytes_of_a_node = setting.variant.assembly ? 27 * 76 : 150;
  const double nodes_of_rank = static_cast<double>(nodes[0]) * nodes[1] * nodes[2] / runtime.ranks();
  if (Status s = runtime.agree(runtime.check_memory(least_bytes_of_a_node * nodes_of_rank)); !s) return s.error();
  const std::int64_t begin = measure::now_ns();
  const FemProblem problem = TRY(make_problem(setting.options, nodes, setting.ranks, runtime));
  setting.problem_seconds = runtime.processes().largest({measure::seconds_since(begin)})[0];
  json found = TRY(setting.options.assembly_only ? run_assembly(request, setting, problem, runtime)
                                                 : run_solve(request, setting, problem, runtime));
  found["problem_seconds"] = setting.problem_seconds;
  found["unknowns"] = 3.0 * static_cast<double>(nodes[0] * nodes[1] * nodes[2]);
  found["grid"] = setting.ranks.ranks;
  return found;
}

std::vector<application::ProblemShare> shares(std::string_view size) {
  return application::shares_of_box(size, longest_axis, 4'000);
}

constexpr std::string_view usual[] = {"matrix_free_avx512", "matrix_free_avx2",     "simd_avx512",
                                      "simd_avx2",          "matrix_free_baseline", "simd_baseline"};

} // namespace

application::Application description() {
  return {
      .name = "fem-cube",
      .summary = "Linear elasticity of a cube by trilinear hexahedral finite elements",
      .paper = "K. Nakajima, GeoFEM/Cube (3x3 block CRS, 8 colours, assembly original and type A)",
      .sizes = "nodes along x, y and z: 64 or 64x48x32",
      .default_size = "32",
      .golden_hash = KUMIHIMO_GOLDEN_HASH,
      .variants = application::descriptions(variants()),
      .methods = application::krylov_methods(),
      .options = option_rows(),
      .shares = &shares,
      .usual = usual,
      .has_tolerance = true,
      .restart_on = [](const ApplicationRequest&) { return application::RestartOn::same_ranks; },
      .run = &run,
  };
}

} // namespace kumihimo::fem_cube
