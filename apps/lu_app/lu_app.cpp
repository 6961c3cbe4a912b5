// The application lu: one run with one variant, on all ranks.
#include "application/application.hpp"
#include "application/checkpoints.hpp"
#include "application/kernel_times.hpp"
#include "lu/golden.hpp"
#include "lu_app/check.hpp"
#include "lu_app/task_factorisation.hpp"
#include "lu_app/unequal_nodes.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kumihimo::lu_app {
namespace {

using application::ApplicationRequest, application::Runtime;
using nlohmann::json;

// HPL's count.
double operations(std::int64_t n) {
  const auto size = static_cast<double>(n);
  return size * size * (2.0 / 3 * size + 1.5);
}

// Of this launch: a run that goes on from a saved state makes fewer, and one that lost a state repeats some.
double operations_made(const LuProblem& problem, const LuRequest& request,
                       const application::Checkpoints& checkpoints) {
  if (!checkpoints.is_asked()) return operations(problem.n);
  const std::int64_t width = request.pivoting == LuVariant::Pivoting::golden ? 1 : problem.block; // of a step
  const auto cubed = [](double n) { return n * n * n; };
  const auto before = [&](std::int64_t step) {
    const std::int64_t left = std::max<std::int64_t>(0, problem.n - step * width);
    return 2.0 / 3 * (cubed(static_cast<double>(problem.n)) - cubed(static_cast<double>(left)));
  };
  const std::int64_t steps = (problem.n + width - 1) / width;
  return operations(problem.n) - before(steps) + checkpoints.made(steps, before);
}

struct LuSolution {
  double setup_seconds = 0, seconds = 0; // of the slowest rank
  double operations = 0;
  double residual = 0; // HPL's
  std::optional<FactorCheck> factors;
  std::optional<double> growth;
  std::optional<lu::UpdateSplit> split; // with a device
  double device_share = 0;              // of the flops of updates
  LuTimes phases;                       // of this rank
  std::optional<TaskReport> tasks;
};

Result<LuSolution> solve_golden(const LuProblem& problem, const LuRequest& request, ProcessGrid& grid,
                                Runtime& runtime) {
  const auto n = static_cast<std::size_t>(problem.n);
  const std::int64_t begin = measure::now_ns();
  const lu::TestMatrix matrix(request.matrix, problem.n, request.seed);
  const lu::BlockCyclic all{problem.n, problem.n, 1};
  std::vector<double> a(n * n), b(n);
  for (std::int64_t j = 0; j < problem.n; ++j) matrix.fill(j, all, 0, a.data() + j * problem.n);
  matrix.fill(problem.n, all, 0, b.data());
  LuSolution solved;
  solved.setup_seconds = measure::seconds_since(begin);
  runtime.processes().barrier();
  const std::int64_t start = measure::now_ns();
  const lu::golden::Factors factors = TRY(lu::golden::factor(std::move(a), problem.n, runtime.checkpoints().hook()));
  const std::vector<double> x = lu::golden::solve(factors, b);
  solved.seconds = measure::seconds_since(start);
  solved.operations = operations_made(problem, request, runtime.checkpoints());
  solved.phases.solution = {solved.seconds, solved.operations, 1};
  const lu::SolutionNorms norms = TRY(norms_of(x, problem, request, grid, runtime.processes()));
  solved.residual = lu::scaled_residual(norms, problem.n);
  return solved;
}

Status factor(LuFactorisation& factors, const LuProblem& problem, const LuRequest& request, const blas::Blas& blas,
              Runtime& runtime, std::optional<TaskRun>& tasks) {
  if (request.pivoting != LuVariant::Pivoting::tiles) return factors.factor(runtime.checkpoints());
  tasks = TRY(factor_by_tasks(factors, problem, request, blas, runtime.processes()));
  return Nothing{};
}

// `blas`: null for the golden copy. `device`: null for none.
Result<LuSolution> solve(const LuProblem& problem, const LuRequest& request, const blas::Blas* blas,
                         lu::UpdateDevice* device, bool checks, Runtime& runtime) {
  Result<ProcessGrid> grid = ProcessGrid::make(problem.p, problem.q, problem.is_column_major, runtime);
  if (Status s = runtime.agree_on(grid); !s) return s.error();
  const bool is_golden = request.pivoting == LuVariant::Pivoting::golden;
  const auto n = static_cast<double>(problem.n);
  const bool has_tasks = request.pivoting == LuVariant::Pivoting::tiles;
  const int lookahead = has_tasks ? lu::TiledFactorisation::panels_at_once - 1 : problem.lookahead;
  const double bytes = is_golden ? 16 * n * n : LuFactorisation::bytes_of_rank(problem, lookahead);
  if (Status s = runtime.agree(runtime.check_memory(bytes)); !s) return s.error();
  if (is_golden) return solve_golden(problem, request, *grid, runtime);

  LuSolution solved;
  const std::int64_t begin = measure::now_ns();
  Result<std::unique_ptr<LuFactorisation>> made = LuFactorisation::make(problem, request, *grid, *blas);
  if (Status s = runtime.agree_on(made); !s) return s.error();
  LuFactorisation& factors = **made;
  if (device) factors.use(*device);
  if (Status s = runtime.agree(factors.accept_messages(runtime.processes())); !s) return s.error();
  solved.setup_seconds = measure::seconds_since(begin);

  runtime.processes().barrier();
  const std::int64_t start = measure::now_ns();
  std::optional<TaskRun> tasks;
  const Status factored = factor(factors, problem, request, *blas, runtime, tasks);
  if (factors.device_failed()) runtime.processes().give_up(factored.error()); // others wait for this rank's panels
  if (Status s = runtime.agree(factored); !s) return s.error();
  const Result<std::vector<double>> x = factors.solve();
  if (Status s = runtime.agree_on(x); !s) return s.error();
  solved.seconds = measure::seconds_since(start);
  solved.operations = operations_made(problem, request, runtime.checkpoints());
  solved.phases = factors.phases();
  if (tasks) solved.tasks = report_of(*tasks, runtime.processes());
  if (device) {
    solved.split = factors.split();
    solved.device_share = factors.device_share();
  }

  const lu::SolutionNorms norms = TRY(norms_of(*x, problem, request, *grid, runtime.processes()));
  solved.residual = lu::scaled_residual(norms, problem.n);
  if (!checks) return solved;
  const lu::TestMatrix matrix(request.matrix, problem.n, request.seed);
  solved.growth = growth_of(factors, matrix, runtime.processes());
  if (problem.n > most_rows_of_factors) return solved;
  const std::vector<double> whole = TRY(gathered(factors, runtime));
  solved.factors = TRY(check_factors(whole, factors.pivots(), matrix, request.pivoting, factors.rows()));
  return solved;
}

// HPL's line of results: how it was solved in the first column.
json row_of(const LuProblem& problem, const LuRequest& request, const ApplicationRequest& asked,
            const LuSolution& solved) {
  const std::string_view name = asked.candidate.variant->name;
  const bool is_golden = request.pivoting == LuVariant::Pivoting::golden; // it has neither blocks nor a grid
  const bool has_tasks = request.pivoting == LuVariant::Pivoting::tiles;
  const std::string kind = is_golden || has_tasks ? std::string(name)
                                                  : fmt::format("W{}{}-{}-{}", problem.is_column_major ? 'C' : 'R',
                                                                problem.lookahead, problem.broadcast, name);
  const std::string outcome = !asked.checks ? "" : solved.residual < request.threshold ? "PASSED" : "FAILED";
  const auto of_blocks = [&](std::int64_t number) { return is_golden ? "" : fmt::format("{}", number); };
  return {kind,
          fmt::format("{}", problem.n),
          of_blocks(problem.block),
          of_blocks(problem.p),
          of_blocks(problem.q),
          fmt::format("{:.2f}", solved.seconds),
          fmt::format("{:.4e}", solved.operations / solved.seconds * 1e-9),
          fmt::format("{:.7f}", solved.residual),
          outcome};
}

// Apart from this thread, which is bound to one processor: threads that the library starts would be bound to it, too.
Result<std::shared_ptr<const blas::Blas>> open_blas(const std::string& path, int team) {
  Result<std::shared_ptr<const blas::Blas>> opened = std::shared_ptr<const blas::Blas>();
  threads::run_apart(1, [&] {
    opened = blas::Blas::open(path, "--set blas=PATH");
    if (opened) (*opened)->set_threads(team);
  });
  return opened;
}

// The same kernels on all ranks.
void add_times(application::KernelTimes& times, const LuTimes& of, bool is_golden) {
  const auto add = [&](const char* name, const WorkTime& phase) {
    times.add(times.declare(name, {0, phase.flops}), 1, phase.seconds);
  };
  if (is_golden) return add("factorisation and solution", of.solution);
  add("panels", of.panels);
  add("waits for panels", of.waits);
  add("row exchanges", of.moves);
  add("updates", of.updates);
  add("back substitution", of.solution);
}

json checked_of(const std::vector<LuSolution>& all, const LuRequest& request) {
  double residual = 0, factors = 0;
  std::int64_t different = 0;
  bool right = true, has_factors = false;
  for (const LuSolution& each : all) {
    right = right && each.residual < request.threshold && (!each.factors || each.factors->passed());
    residual = larger(each.residual, residual);
    if (!each.factors) continue;
    has_factors = true;
    factors = larger(each.factors->worst, factors);
    different += each.factors->different_pivots;
  }
  const char* const what = has_factors ? "HPL's residual, P A = L U, and pivots by the golden copy" : "HPL's residual";
  json checked = {{"what", what},
                  {"right", right},
                  {"error", std::isnan(residual) ? json() : json(residual)},
                  {"bound", request.threshold}};
  if (has_factors) checked["factors_of_bound"] = std::isnan(factors) ? json() : json(factors);
  if (has_factors) checked["different_pivots"] = different;
  return checked;
}

Result<json> run(const ApplicationRequest& asked, Runtime& runtime) {
  const Result<LuRequest> request = request_of(asked, runtime.ranks());
  if (Status s = runtime.agree_on(request); !s) return s.error();
  if (runtime.checkpoints().is_asked() && request->problems.size() > 1)
    return wrong_value("checkpoints are of one problem", fmt::format("{} in the file", request->problems.size()),
                       "leave one in it, or leave --checkpoint out");
  const bool has_tasks = request->pivoting == LuVariant::Pivoting::tiles;
  std::shared_ptr<const blas::Blas> blas;
  if (request->pivoting != LuVariant::Pivoting::golden) {
    Result<std::shared_ptr<const blas::Blas>> opened = open_blas(request->blas, has_tasks ? 1 : threads::count());
    if (Status s = runtime.agree_on(opened); !s) return s.error();
    blas = *opened;
  }
  std::string rule; // of unequal nodes
  std::unique_ptr<SharedDevice> shared;
  if (blas) {
    const Result<std::string> settled = settle(request->nodes, *blas, runtime);
    if (Status s = runtime.agree_on(settled); !s) return s.error();
    rule = *settled;
    if (!request->device.empty()) shared = TRY(SharedDevice::make(request->device, *blas, runtime));
  }
  std::vector<LuSolution> all;
  application::KernelTimes times;
  LuTimes sum;
  json rows = json::array();
  double seconds = 0, setup = 0, flops = 0, whole = 0, unknowns = 0;
  for (const LuProblem& problem : request->problems) {
    lu::UpdateDevice* const device = shared ? &shared->device() : nullptr;
    LuSolution solved = TRY(solve(problem, *request, blas.get(), device, asked.checks, runtime));
    const std::vector<double> slowest = runtime.processes().largest({solved.seconds, solved.setup_seconds});
    solved.seconds = slowest[0];
    seconds += slowest[0];
    setup += slowest[1];
    flops += solved.operations;
    whole += operations(problem.n);
    unknowns += static_cast<double>(problem.n);
    for (const auto phase :
         {&LuTimes::panels, &LuTimes::waits, &LuTimes::moves, &LuTimes::updates, &LuTimes::solution}) {
      (sum.*phase).seconds += (solved.phases.*phase).seconds;
      (sum.*phase).flops += (solved.phases.*phase).flops;
      (sum.*phase).calls += (solved.phases.*phase).calls;
    }
    rows.push_back(row_of(problem, *request, asked, solved));
    all.push_back(std::move(solved));
  }
  add_times(times, sum, !blas);
  const double gflops = flops / seconds * 1e-9;
  json answer = json::array();
  const bool is_part = flops != whole;
  answer.push_back({"rating", fmt::format("{:.4g} GFLOPS{}", gflops, is_part ? " of the steps of this launch" : "")});
  if (all.back().growth) answer.push_back({"growth factor", fmt::format("{:.3g}", *all.back().growth)});
  if (blas) answer.push_back({"BLAS", blas->name()});
  const LuProblem& last = request->problems.back();
  json facts = {{"GFLOPS", gflops}};
  if (blas) facts["grid of ranks"] = fmt::format("{}x{}", last.p, last.q);
  if (!rule.empty()) answer.push_back({"ranks of nodes", rule});
  if (shared) {
    const lu::UpdateSplit& split = *all.back().split;
    const double share = all.back().device_share;
    answer.push_back(
        {"device", fmt::format("{}, shared by {} rank{}; of rank 0 it took {:.1f} % of the updates, alpha "
                               "is {:.3f}{} at the end",
                               shared->device().name(), shared->sharers(), shared->sharers() > 1 ? "s" : "",
                               100 * share, split.share(), split.holds() ? ", held," : "")});
    facts["alpha of rank 0"] = share;
  }
  if (all.back().tasks)
    for (const auto& [name, text] : all.back().tasks->words) answer.push_back({name, text});
  for (const lu::UnusedLine& each : request->unused)
    answer.push_back({fmt::format("line {} of the file", each.line),
                      fmt::format("{} {} changes nothing: {}", each.name, each.values, each.reason)});
  json found = {{"seconds", seconds},
                {"setup_seconds", setup},
                {"iterations", 1},
                {"planned_iterations", 1},
                {"residual", std::isnan(all.back().residual) ? json() : json(all.back().residual)},
                {"converged", true},
                {"history", json::array()},
                {"unknowns", unknowns},
                {"gflops", gflops},
                {"growth", all.back().growth ? json(*all.back().growth) : json()},
                {"answer", std::move(answer)},
                {"facts", std::move(facts)},
                {"tables",
                 {{{"name", "hpl"},
                   {"title", "As HPL prints it"},
                   {"columns", {"T/V", "N", "NB", "P", "Q", "Time", "Gflops", "residual", "check"}},
                   {"rows", std::move(rows)},
                   {"caption", fmt::format("The residual is ||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N); below "
                                           "{} it has PASSED.",
                                           request->threshold)}}}},
                {"kernels", to_json(times, runtime.processes())}};
  if (all.back().tasks) found["timeline"] = *all.back().tasks->timeline;
  if (asked.checks) found["checked"] = checked_of(all, *request);
  return found;
}

// Cubes of the sizes: a smaller matrix tells which variant is fast, though not how fast.
std::vector<application::ProblemShare> shares(std::string_view size) {
  std::int64_t n = 0;
  for (const char c : size) {
    if (c < '0' || c > '9' || n > lu::most_rows) return {};
    n = 10 * n + (c - '0');
  }
  if (n < 2048) return {};
  return {{fmt::format("{}", n / 2), 8, 1}};
}

constexpr std::string_view usual[] = {"rows", "tasks", "tournament"};

} // namespace

application::Application description() {
  return {
      .name = "lu",
      .summary = "LU factorisation with row pivoting on a grid of ranks, by the rules of HPL",
      .paper = "A. Petitet, R. C. Whaley, J. Dongarra, A. Cleary, HPL (2018)",
      .sizes = "rows of the matrix: 7680",
      .default_size = "2000",
      .golden_hash = KUMIHIMO_GOLDEN_HASH,
      .variants = application::descriptions(variants()),
      .methods = {},
      .options = option_rows(),
      .shares = &shares,
      .sample = 1,
      .usual = usual,
      .most_iterations = 1,
      .residual = "HPL's scaled residual",
      .golden_may_be_chosen = false,
      .by_name_only = measured_by_name(),
      .has_grid = false,
      .restart_on = [](const ApplicationRequest&) { return application::RestartOn::same_ranks; },
      .stateless_variants = stateless_variants(),
      .run = &run,
  };
}

} // namespace kumihimo::lu_app
