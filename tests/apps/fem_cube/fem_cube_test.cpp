// fem-cube over ranks: every variant against the golden copy, the patch test, convergence, and checks that find errors.
#include "application/krylov_run.hpp"
#include "application/request.hpp"
#include "applications.hpp"
#include "fem/preconditioners.hpp"
#include "fem/product.hpp"
#include "fem_cube/check.hpp"
#include "fem_cube/golden.hpp"
#include "fem_cube/local_system.hpp"
#include "halo/halo.hpp"
#include "loopback/loopback_processes.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <random>

namespace kumihimo::fem_cube {
namespace {

using application::Processes, application::RankGrid, application::run_processes, application::Runtime;
using nlohmann::json;

struct Asked {
  fem::Triple nodes{6, 6, 6};
  FemOptions options;
  std::size_t variant = 0; // the golden copy
  std::int32_t ranks = 1;
  double tolerance = 1e-10;
  double disturbance = 0; // of the first displacement of rank 0 before the check
  std::string method = "cg";
  ParameterValues parameters = {};
};

struct Answer {
  json checked;
  std::int64_t iterations = 0;
  std::map<std::int64_t, fem::Vector3> displacements; // by the number of the node in the cube
};

std::size_t variant_named(std::string_view name) {
  const auto found =
      std::find_if(variants().begin(), variants().end(), [&](const FemVariant& v) { return v.name == name; });
  EXPECT_NE(found, variants().end()) << name;
  return static_cast<std::size_t>(found - variants().begin());
}

// Of a rank's owned nodes, in their order.
template <class Visit>
void for_each_owned(const fem::NodeGrid& grid, Visit visit) {
  std::int64_t n = 0;
  for (std::int64_t z = 0; z < grid.box[2]; ++z)
    for (std::int64_t y = 0; y < grid.box[1]; ++y)
      for (std::int64_t x = 0; x < grid.box[0]; ++x)
        visit(n++, grid.global({grid.low[0] + x, grid.low[1] + y, grid.low[2] + z}));
}

Result<Answer> solve(const Asked& asked) {
  Answer answer;
  std::mutex mutex;
  const auto [status, printed] = run_processes(asked.ranks, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const RankGrid ranks = TRY(runtime->grid(asked.nodes));
    const FemProblem problem = TRY(make_problem(asked.options, asked.nodes, ranks, *runtime));
    const FemVariant& variant = variants()[asked.variant];
    Discretised discretised =
        TRY(discretise(problem, variant, with_defaults(variant.parameters, asked.parameters), 1, *runtime));
    std::unique_ptr<Preconditioner> preconditioner =
        TRY(make_preconditioner(asked.options, *discretised.discrete, variant.is_golden()));
    FemSystem system(problem, std::move(discretised.discrete), std::move(preconditioner));
    threads::ThreadedArray<double> x = TRY(threads::ThreadedArray<double>::zeros(system.rows()));
    application::ApplicationRequest request;
    request.method = asked.method;
    request.tolerance = asked.tolerance;
    const application::KrylovRun run = TRY(
        application::run_krylov(request, system, system.times(), runtime->sums(), system.load(), x.span(), *runtime));
    if (processes.rank() == 0) x[0] += asked.disturbance;
    const json checked = TRY(check_solution(problem, system.load(), x.span(), asked.tolerance, *runtime));
    const std::lock_guard lock(mutex);
    for_each_owned(problem.mesh.grid, [&](std::int64_t n, std::int64_t global) {
      answer.displacements[global] = {x[3 * n], x[3 * n + 1], x[3 * n + 2]};
    });
    answer.checked = checked;
    answer.iterations = run.iterations;
    return Nothing{};
  });
  if (!status) return status.error();
  return answer;
}

double largest_difference(const Answer& a, const Answer& b) {
  EXPECT_EQ(a.displacements.size(), b.displacements.size());
  double largest = 0;
  for (const auto& [node, u] : a.displacements)
    for (std::size_t i = 0; i < 3; ++i) largest = std::max(largest, std::abs(u[i] - b.displacements.at(node)[i]));
  return largest;
}

// The error of a displacement is at most |r| / (least eigenvalue of A), with |r| <= 1e-10 |b|. Here |b| is below 0.05
// and the eigenvalue above 0.02 (below): 2.5e-10 for each of two solutions.
constexpr double largest_load = 0.05, least_eigenvalue = 0.02, same = 2 * 1e-10 * largest_load / least_eigenvalue;

TEST(FemCube, TheLoadAndTheLeastEigenvalueAreWithinTheirLimits) {
  for (const auto& [nodes, distortion] : {std::pair{fem::Triple{6, 4, 5}, 0.2}, std::pair{fem::Triple{6, 6, 6}, 0.0}}) {
    const auto [status, printed] = run_processes(1, false, 1, [&](Processes& processes) -> Status {
      std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
      FemOptions options;
      options.distortion = distortion;
      options.spread = distortion > 0 ? 1 : 3;
      const FemProblem problem = TRY(make_problem(options, nodes, {}, *runtime));
      Discretised made = TRY(discretise(problem, variants()[0], {}, 1, *runtime));
      std::unique_ptr<Preconditioner> preconditioner = TRY(make_preconditioner(options, *made.discrete, true));
      FemSystem system(problem, std::move(made.discrete), std::move(preconditioner));
      double square = 0;
      for (const double each : system.load()) square += each * each;
      EXPECT_LT(std::sqrt(square), largest_load);
      std::vector<double> vector(static_cast<std::size_t>(system.rows()), 1.0), next(vector.size());
      double eigenvalue = 0;
      application::ApplicationRequest request;
      request.method = "cg";
      for (int i = 0; i < 20; ++i) { // inverse iteration
        std::fill(next.begin(), next.end(), 0.0);
        TRY(application::run_krylov(request, system, system.times(), runtime->sums(), vector, next, *runtime));
        double before = 0, after = 0;
        for (std::size_t k = 0; k < next.size(); ++k) before += vector[k] * vector[k], after += next[k] * next[k];
        eigenvalue = std::sqrt(before / after);
        for (std::size_t k = 0; k < next.size(); ++k) vector[k] = next[k] / std::sqrt(after);
      }
      EXPECT_GT(eigenvalue, least_eigenvalue);
      return Nothing{};
    });
    EXPECT_TRUE(status.ok());
  }
}

TEST(FemCube, EveryVariantOnAnyNumberOfRanksFindsTheSolutionOfTheGoldenCopy) {
  Asked asked;
  asked.nodes = {6, 4, 5};
  asked.options.distortion = 0.2;
  asked.options.spread = 1;
  const Answer golden = *solve(asked);
  EXPECT_TRUE(golden.checked["right"].get<bool>());
  for (std::size_t v = 0; v < variants().size(); ++v) {
    if (!variants()[v].check_applicable(asked.options).ok()) continue;
    for (const std::int32_t ranks : {1, 2, 3, 8}) {
      asked.variant = v;
      asked.ranks = ranks;
      const auto answer = solve(asked);
      ASSERT_TRUE(answer.ok()) << variants()[v].name << ": " << answer.error().sentence();
      EXPECT_TRUE(answer->checked["right"].get<bool>()) << variants()[v].name << answer->checked;
      EXPECT_LE(answer->checked["bound"].get<double>(), 2e-10) << "the bound stays near the tolerance";
      EXPECT_LE(largest_difference(*answer, golden), same) << variants()[v].name << " on " << ranks;
    }
  }
}

TEST(FemCube, EveryPreconditionerAndMethodFindsIt) {
  Asked asked;
  asked.options.spread = 3;
  const Answer golden = *solve(asked);
  for (const Preconditioning each :
       {Preconditioning::block_diagonal, Preconditioning::gauss_seidel, Preconditioning::additive_schwarz})
    for (const std::size_t variant : {variant_named("golden"), variant_named("type_a")})
      for (const std::int32_t ranks : {1, 4})
        for (const char* method : {"cg", "pipelined"}) {
          asked.options.preconditioning = each;
          asked.options.parts = 5;
          asked.variant = variant;
          asked.ranks = ranks;
          asked.method = method;
          const auto answer = solve(asked);
          ASSERT_TRUE(answer.ok()) << answer.error().sentence();
          EXPECT_TRUE(answer->checked["right"].get<bool>()) << answer->checked;
          EXPECT_LE(largest_difference(*answer, golden), same);
          if (each != Preconditioning::block_diagonal) {
            EXPECT_LT(answer->iterations, golden.iterations);
          }
        }
}

// Tolerance 1e-12, displacements up to 1: found to 1e-10 at every node, and A u of the exact ones within rounding.
TEST(FemCube, PassesThePatchTestOverRanks) {
  Asked asked;
  asked.options.load = Load::patch;
  asked.options.distortion = 0.25;
  asked.tolerance = 1e-12;
  for (const fem::Triple& nodes : {fem::Triple{6, 6, 6}, fem::Triple{4, 7, 5}})
    for (const std::int32_t ranks : {1, 2, 3, 8})
      for (const std::size_t variant :
           {variant_named("golden"), variant_named("simd_baseline"), variant_named("matrix_free_baseline")}) {
        asked.nodes = nodes;
        asked.ranks = ranks;
        asked.variant = variant;
        const auto answer = solve(asked);
        ASSERT_TRUE(answer.ok()) << answer.error().sentence();
        EXPECT_TRUE(answer->checked["right"].get<bool>()) << answer->checked;
        EXPECT_LE(answer->checked["discretisation_error"].get<double>(), 1e-10);
        EXPECT_LE(answer->checked["patch_residual"].get<double>(), answer->checked["patch_bound"].get<double>());
      }
}

// Twice as many elements along each axis: a quarter of the error of the energy, and of displacements.
TEST(FemCube, EnergyAndDisplacementsConvergeAtSecondOrder) {
  for (const double distortion : {0.0, 0.15}) {
    Asked asked;
    asked.options.load = Load::manufactured;
    asked.options.distortion = distortion;
    asked.variant = variant_named("matrix_free_baseline");
    asked.nodes = {7, 7, 7};
    const json coarse = solve(asked)->checked;
    asked.nodes = {13, 13, 13};
    asked.ranks = 2;
    const json fine = solve(asked)->checked;
    for (const char* error : {"energy_error", "discretisation_error"})
      EXPECT_NEAR(std::log2(coarse[error].get<double>() / fine[error].get<double>()), 2, 0.25) << error << distortion;
  }
}

TEST(FemCube, AWrongSolutionIsFound) {
  for (const Load load : {Load::stretch, Load::body_force, Load::patch, Load::manufactured})
    for (const std::int32_t ranks : {1, 3}) {
      Asked asked;
      asked.options.load = load;
      asked.ranks = ranks;
      EXPECT_TRUE(solve(asked)->checked["right"].get<bool>());
      asked.disturbance = 1e-7; // of a prescribed displacement
      EXPECT_FALSE(solve(asked)->checked["right"].get<bool>());
    }
}

TEST(FemCube, AWrongLoadOrMatrixIsFound) {
  const auto [status, printed] = run_processes(1, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    FemProblem problem = TRY(make_problem({}, {5, 5, 5}, {}, *runtime));
    Assembled assembled = TRY(assemble(problem, variants()[2], with_defaults(variants()[2].parameters), 3, *runtime));
    EXPECT_GT(assembled.time.seconds, 0);
    EXPECT_TRUE(TRY(check_matrix(problem, assembled.matrix, *runtime))["right"].get<bool>());
    assembled.matrix.values[1234] *= 1 + 1e-9;
    EXPECT_FALSE(TRY(check_matrix(problem, assembled.matrix, *runtime))["right"].get<bool>());
    assembled.matrix.values[1234] = std::nan("");
    EXPECT_FALSE(TRY(check_matrix(problem, assembled.matrix, *runtime))["right"].get<bool>());
    return Nothing{};
  });
  EXPECT_TRUE(status.ok());
}

// Each ghost gets what its owner has, by boxes and by lists.
TEST(NodeHalo, BringsTheValuesOfOwners) {
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    fem::Triple nodes{};
    for (auto& n : nodes) n = 2 + static_cast<std::int64_t>(random() % 6);
    for (const std::int32_t ranks : {1, 2, 4, 6, 8}) {
      if (!application::choose_grid(ranks, nodes)) continue;
      const auto [status, printed] = run_processes(ranks, true, 1, [&](Processes& processes) -> Status {
        std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
        const RankGrid grid = TRY(runtime->grid(nodes));
        const FemProblem problem = TRY(make_problem({}, nodes, grid, *runtime));
        const fem::Mesh& mesh = problem.mesh;
        const auto value = [](const double* x, std::size_t a) { return 100 * x[0] + 10 * x[1] + x[2] + 1000.0 * a; };
        std::vector<double> vector(static_cast<std::size_t>(problem.displacements()));
        for (int round = 0; round < 2; ++round) {
          for (std::size_t k = 0; k < vector.size(); ++k)
            vector[k] = k < static_cast<std::size_t>(3 * mesh.owned) ? value(mesh.node(k / 3), k % 3) : -1;
          if (Status s = problem.halo->run(vector.data()); !s) return s;
          for (std::size_t k = 0; k < vector.size(); ++k)
            if (vector[k] != value(mesh.node(k / 3), k % 3)) return failed("a ghost has the wrong value");
        }
        return Nothing{};
      });
      EXPECT_TRUE(status.ok()) << ranks;
    }
  }
}

// `simulate app fem-cube` predicts the exchange of 27 points with 3 fields on a mesh.
TEST(NodeHalo, OfEqualBoxesIsTheHaloExchangeThatIsPredicted) {
  const auto [status, printed] = run_processes(8, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const RankGrid grid = TRY(runtime->grid({6, 6, 6}));
    const FemProblem problem = TRY(make_problem({}, {6, 6, 6}, grid, *runtime));
    EXPECT_TRUE(problem.halo->of_equal_boxes());
    Halo halo = TRY(Halo::parse("3x3x3,points=27,fields=3,mesh"));
    halo.ranks = grid.ranks;
    std::size_t sent = 0;
    for (const auto& each : node_lists(problem.mesh.grid, grid, processes.rank()).neighbours) sent += each.sent.size();
    std::int64_t cells = 0;
    for (const HaloMessage& message : messages_of(halo, Rank{processes.rank()}))
      if (message.to >= 0) cells += message.sent.length(0) * message.sent.length(1) * message.sent.length(2);
    EXPECT_EQ(static_cast<std::int64_t>(sent), cells);
    const FemProblem other = TRY(make_problem({}, {7, 6, 6}, TRY(runtime->grid({7, 6, 6})), *runtime));
    EXPECT_FALSE(other.halo->of_equal_boxes());
    return Nothing{};
  });
  EXPECT_TRUE(status.ok());
}

// One part of the golden Schwarz, in natural order, is what fem's gives for the same order of nodes.
TEST(Golden, PreconditionersAreThoseOfFem) {
  const auto [status, printed] = run_processes(1, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    FemOptions options;
    options.distortion = 0.2;
    const FemProblem problem = TRY(make_problem(options, {4, 5, 4}, {}, *runtime));
    const Discretised made = TRY(discretise(problem, variants()[0], {}, 1, *runtime));
    const fem::BlockMatrix& matrix = *made.discrete->matrix();
    std::mt19937 random(1);
    std::uniform_real_distribution<double> any(-1, 1);
    std::vector<double> r(static_cast<std::size_t>(3 * matrix.owned)), z(r.size()), expected(r.size());
    for (double& each : r) each = any(random);
    TRY(golden::GoldenBlockDiagonal::make(fem::diagonal_blocks(matrix))).apply(r.data(), z.data());
    TRY(fem::BlockDiagonal::make(fem::diagonal_blocks(matrix))).apply(r.data(), expected.data());
    for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(z[i], expected[i], 1e-13 * (1 + std::abs(expected[i])));
    std::vector<std::int32_t> all(static_cast<std::size_t>(matrix.owned));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    const fem::Sweeps sweeps = TRY(fem::Sweeps::make(matrix, all));
    sweeps.forward(0, sweeps.size(), r.data(), expected.data());
    sweeps.backward(0, sweeps.size(), expected.data());
    TRY(golden::Schwarz::make(matrix, 1, 0)).apply(r.data(), z.data());
    for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(z[i], expected[i], 1e-12 * (1 + std::abs(expected[i])));
    EXPECT_FALSE(golden::Schwarz::make(matrix, 0, 0).ok());
    EXPECT_FALSE(golden::Schwarz::make(matrix, matrix.owned + 1, 0).ok());
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

Result<json> run_row(const std::string& size, const json& options, const std::string& variant = "original",
                     std::int32_t ranks = 1) {
  const json task = {
      {"application", "fem-cube"}, {"size", size}, {"options", options}, {"candidates", {{{"variant", variant}}}}};
  const application::ApplicationTask parsed = TRY(application::parse_task(task.dump(), applications()));
  const auto [status, printed] = run_processes(ranks, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    application::ApplicationRequest request = parsed.request;
    request.candidate = parsed.candidates[0];
    processes.print(TRY(request.application->run(request, *runtime)));
    return Nothing{};
  });
  if (!status) return status.error();
  return printed.back();
}

TEST(Application, RunsByItsRow) {
  const json found = *run_row("7x5x6", {{"load", "manufactured"}}, "type_a", 2);
  EXPECT_EQ(found["unknowns"], 630);
  EXPECT_EQ(found["elements"], 120);
  EXPECT_TRUE(found["converged"].get<bool>());
  EXPECT_TRUE(found["checked"]["right"].get<bool>());
  EXPECT_EQ(found["history"].size(), found["iterations"].get<std::size_t>() + 1);
  std::map<std::string, json> kernels;
  for (const json& each : found["kernels"]) kernels[each["name"]] = each;
  for (const char* name : {"product", "preconditioner", "halo exchange", "sums over ranks", "vector updates and dots"})
    EXPECT_FALSE(kernels.at(name).contains("setup")) << name;
  EXPECT_TRUE(kernels.at("assembly")["setup"].get<bool>());
  EXPECT_GT(kernels.at("assembly")["flops"].get<double>(), 120 * 1000.0);
  EXPECT_NEAR(found["elements_per_second"].get<double>(), 120 / found["assembly_seconds"].get<double>(), 1e-6);
  const application::Application& row = **application::find_application(applications(), "fem-cube");
  EXPECT_EQ(row.variants[0].name, "golden");
  EXPECT_EQ(row.shares("128x96x32")[0].size, "32x24x8");
  EXPECT_EQ(row.shares("128x96x32")[0].work, 64);
  EXPECT_TRUE(row.shares("16").empty()) << "too small";
  EXPECT_TRUE(row.shares("a.mtx").empty());
}

TEST(Application, TimesTheAssemblyAlone) {
  const json found = *run_row("6", {{"assembly_only", "yes"}, {"assemblies", "3"}}, "original", 2);
  EXPECT_EQ(found["iterations"], 0);
  EXPECT_EQ(found["seconds"], found["assembly_seconds"]);
  EXPECT_TRUE(found["checked"]["right"].get<bool>());
  EXPECT_EQ(found["kernels"].size(), 1u);
}

TEST(Application, RanksWithFewNodesHaveFewerParts) {
  const json options = {{"preconditioner", "additive_schwarz"}};
  for (const char* variant : {"golden", "original"}) {
    const auto found = run_row("4x2x2", options, variant, 4);
    ASSERT_TRUE(found) << found.error().sentence();
    EXPECT_TRUE((*found)["checked"]["right"].get<bool>());
  }
  EXPECT_EQ((*run_row("2", options))["facts"]["parts"], 8);
  EXPECT_EQ((*run_row("3", options))["facts"]["parts"], 8);
}

TEST(Application, RefusesWrongValuesInASentence) {
  const auto sentence = [](const std::string& size, const json& options, const std::string& variant = "original") {
    const auto found = run_row(size, options, variant);
    return found ? "" : found.error().sentence();
  };
  EXPECT_EQ(sentence("1", {}), "the cube needs at least 2 nodes along each axis (got 1)");
  EXPECT_EQ(sentence("6", {{"distortion", "x"}}), "distortion must be a number (got 'x')");
  EXPECT_EQ(sentence("6", {{"distortion", "0.3"}}), "the distortion must be 0 to 0.25 (got 0.3)");
  EXPECT_EQ(sentence("6", {{"spread", "nan"}}), "spread must be a number (got 'nan')");
  EXPECT_EQ(sentence("6", {{"spread", "-1"}}), "the spread of moduli must be at least 0 (got -1)");
  EXPECT_EQ(sentence("6", {{"poisson_ratio", "0.5"}}), "poisson_ratio must be above -1 and below 0.5 (got 0.5)");
  EXPECT_EQ(sentence("6", {{"load", "patch"}, {"spread", "1"}}),
            "the load patch needs one modulus, spread 0 (got 1); leave spread out");
  EXPECT_EQ(sentence("6", {{"assemblies", "0"}}), "assemblies must be a number from 1 to 1000 (got '0')");
  EXPECT_EQ(sentence("3", {{"preconditioner", "additive_schwarz"}, {"parts", "28"}}),
            "the number of parts must be 1 to 27 (got 28)");
  EXPECT_EQ(sentence("6", {{"preconditioner", "gauss_seidel"}}, "matrix_free_baseline"),
            "matrix_free_baseline has no matrix, which this preconditioner needs; use preconditioner=block_diagonal");
  EXPECT_EQ(sentence("6", {{"assembly_only", "yes"}}, "matrix_free_baseline"),
            "matrix_free_baseline assembles no matrix");
  EXPECT_NE(sentence("6", {{"load", "pull"}}).find("load must be one of stretch, body_force"), std::string::npos);
}

} // namespace
} // namespace kumihimo::fem_cube
