// The golden copy of poisson3d against dense algebra, the same problem on any grid of ranks, and its check.
#include "amg/smoothed_aggregation.hpp"
#include "application/request.hpp"
#include "applications.hpp"
#include "krylov/method.hpp"
#include "loopback/loopback_processes.hpp"
#include "poisson3d/check.hpp"
#include "poisson3d/golden.hpp"
#include "poisson3d/local_system.hpp"
#include "poisson3d/matrix_file.hpp"
#include "poisson3d/solve.hpp"
#include "sparse/poisson.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <thread>

namespace kumihimo::poisson3d {
namespace {

using application::choose_grid, application::Processes, application::RankGrid, application::run_processes,
    application::Runtime;
using Box = std::array<std::int64_t, 3>;

std::int64_t number_of(const Box& cells, const Box& cell) {
  return cell[0] + cells[0] * (cell[1] + cells[1] * cell[2]);
}

// The global number of each column of a rank's matrix, by the cells of the ranks alone.
std::vector<std::int64_t> columns_of(const CellGrid& grid, const RankGrid& ranks, std::int32_t rank,
                                     const LocalProblem& problem) {
  const auto rows_of = [&](std::int32_t r) {
    std::vector<std::int64_t> rows;
    const auto part = ranks.part(grid.cells, r);
    for (auto z = part[2].begin; z < part[2].end; ++z)
      for (auto y = part[1].begin; y < part[1].end; ++y)
        for (auto x = part[0].begin; x < part[0].end; ++x) rows.push_back(number_of(grid.cells, {x, y, z}));
    return rows;
  };
  std::vector<std::int64_t> columns = rows_of(rank);
  for (const auto& neighbour : problem.ghosts.neighbours) {
    const std::vector<std::int64_t> theirs = rows_of(neighbour.rank);
    const LocalProblem other = *make_problem(grid, ranks, neighbour.rank, RightSide::ones);
    for (const auto& back : other.ghosts.neighbours)
      if (back.rank == rank)
        for (const std::int32_t row : back.sent) columns.push_back(theirs[static_cast<std::size_t>(row)]);
  }
  return columns;
}

using Entries = std::map<std::pair<std::int64_t, std::int64_t>, double>;
Entries entries_of(const CellGrid& grid, const RankGrid& ranks) {
  Entries entries;
  for (std::int32_t r = 0; r < ranks.count(); ++r) {
    const LocalProblem problem = *make_problem(grid, ranks, r, RightSide::ones);
    const std::vector<std::int64_t> columns = columns_of(grid, ranks, r, problem);
    const sparse::CrsMatrix& m = problem.matrix;
    EXPECT_EQ(columns.size(), static_cast<std::size_t>(m.columns));
    for (std::int32_t i = 0; i < m.rows; ++i)
      for (auto e = m.begin[static_cast<std::size_t>(i)]; e < m.begin[static_cast<std::size_t>(i) + 1]; ++e)
        entries[{columns[static_cast<std::size_t>(i)],
                 columns[static_cast<std::size_t>(m.column[static_cast<std::size_t>(e)])]}] =
            m.value[static_cast<std::size_t>(e)];
  }
  return entries;
}

TEST(BoxMatrix, IsSymmetricAndTheSameOnAnyGridOfRanks) {
  std::mt19937 random(2);
  for (int i = 0; i < 30; ++i) {
    CellGrid grid;
    for (auto& n : grid.cells) n = 1 + static_cast<std::int64_t>(random() % 5);
    grid.boundary = i % 2 == 0 ? Boundary::zmax : Boundary::all;
    const Entries whole = entries_of(grid, RankGrid{});
    for (const auto& [place, value] : whole) {
      const auto mirrored = whole.find({place.second, place.first});
      ASSERT_NE(mirrored, whole.end());
      EXPECT_EQ(mirrored->second, value);
    }
    for (const std::int32_t ranks : {2, 3, 4, 6, 8})
      if (const auto on = choose_grid(ranks, grid.cells)) {
        EXPECT_EQ(entries_of(grid, *on), whole);
      }
  }
}

TEST(BoxMatrix, RowsAreThoseOfTheStencil) {
  CellGrid grid{{3, 3, 3}, Boundary::all};
  const sparse::CrsMatrix all = make_problem(grid, {}, 0, RightSide::ones)->matrix;
  const double h = 1.0 / 4;
  EXPECT_EQ(all.entries(), 27 + 2 * 54);
  for (std::size_t e = 0; e < all.value.size(); ++e) EXPECT_TRUE(all.value[e] == 6 * h || all.value[e] == -h);
  grid.boundary = Boundary::zmax; // every row of a plane z = const adds to 0, but for the last, where the face adds 2 h
  const sparse::CrsMatrix top = make_problem(grid, {}, 0, RightSide::ones)->matrix;
  for (std::int32_t i = 0; i < top.rows; ++i) {
    double sum = 0;
    for (auto e = top.begin[static_cast<std::size_t>(i)]; e < top.begin[static_cast<std::size_t>(i) + 1]; ++e)
      sum += top.value[static_cast<std::size_t>(e)];
    EXPECT_NEAR(sum, i < 18 ? 0 : 2.0 / 3, 1e-14) << i;
  }
}

// Both compute area / distance, with different products: each errs by 3 roundings, a diagonal by 6 more.
TEST(BoxMatrix, IsThatOfTheSparseLayer) {
  const CellGrid grid{{5, 4, 3}, Boundary::zmax};
  const sparse::PoissonGrid same{5, 4, 3, grid.edge(0), grid.edge(1), grid.edge(2)};
  const LocalProblem box = *make_problem(grid, {}, 0, RightSide::manufactured);
  const sparse::CrsMatrix plain = *sparse::poisson_matrix(same);
  ASSERT_EQ(box.matrix.begin, plain.begin);
  ASSERT_EQ(box.matrix.column, plain.column);
  constexpr double eps = std::numeric_limits<double>::epsilon();
  for (std::size_t e = 0; e < plain.value.size(); ++e)
    EXPECT_NEAR(box.matrix.value[e], plain.value[e], 9 * eps * std::abs(plain.value[e])) << e;
  const std::vector<double> b = sparse::manufactured_right_side(same);
  double largest = 0;
  for (const double v : b) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(box.right_side[i], b[i], 20 * eps * largest) << i;
}

// 2^60 cells: no loop over them ends.
TEST(BoxMatrix, TooManyCellsAreRefusedAtOnce) {
  const CellGrid grid{{1 << 20, 1 << 20, 1 << 20}, Boundary::zmax};
  const auto made = make_problem(grid, RankGrid{{2, 1, 1}}, 1, RightSide::ones);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().sentence(),
            "a rank must have at most 2147483647 cells with ghosts (got 576461851815051264); use more ranks");
}

// Any matrix: rows and ghosts of all ranks are the whole one, and neighbours name each other.
TEST(MatrixFile, PartsOfTheRanksAreTheWholeMatrix) {
  const sparse::CrsMatrix whole = make_problem({{4, 3, 5}, Boundary::all}, {}, 0, RightSide::ones)->matrix;
  for (const std::int32_t ranks : {1, 2, 3, 7, 60}) {
    std::vector<LocalProblem> parts;
    for (std::int32_t r = 0; r < ranks; ++r) {
      parts.push_back(*part_of(whole, r, ranks));
      EXPECT_TRUE(check(parts.back().ghosts, Rank{r}, ranks).ok());
    }
    Entries entries;
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int64_t first = threads::part(whole.rows, r, ranks).begin;
      std::vector<std::int64_t> columns;
      for (std::int64_t i = 0; i < parts[static_cast<std::size_t>(r)].matrix.rows; ++i) columns.push_back(first + i);
      for (const auto& neighbour : parts[static_cast<std::size_t>(r)].ghosts.neighbours)
        for (const auto& back : parts[static_cast<std::size_t>(neighbour.rank)].ghosts.neighbours)
          if (back.rank == r) {
            EXPECT_EQ(static_cast<std::int64_t>(back.sent.size()), neighbour.received);
            for (const std::int32_t row : back.sent)
              columns.push_back(threads::part(whole.rows, neighbour.rank, ranks).begin + row);
          }
      const sparse::CrsMatrix& m = parts[static_cast<std::size_t>(r)].matrix;
      ASSERT_EQ(columns.size(), static_cast<std::size_t>(m.columns));
      for (std::size_t i = 0; i < static_cast<std::size_t>(m.rows); ++i)
        for (auto e = m.begin[i]; e < m.begin[i + 1]; ++e)
          entries[{columns[i], columns[static_cast<std::size_t>(m.column[static_cast<std::size_t>(e)])]}] =
              m.value[static_cast<std::size_t>(e)];
    }
    Entries expected;
    for (std::size_t i = 0; i < static_cast<std::size_t>(whole.rows); ++i)
      for (auto e = whole.begin[i]; e < whole.begin[i + 1]; ++e)
        expected[{static_cast<std::int64_t>(i), whole.column[static_cast<std::size_t>(e)]}] =
            whole.value[static_cast<std::size_t>(e)];
    EXPECT_EQ(entries, expected) << ranks;
  }
  EXPECT_FALSE(part_of(whole, 0, 61).ok());
}

struct Answer {
  Solved solved;
  double error = 0, bound = 0, discretisation = 0;
  bool right = false;
  std::vector<double> x; // of one rank
};

struct Case {
  std::size_t variant = 0; // the golden copy
  std::string method = "cg";
  ParameterValues parameters = {};
};

Result<Answer> solve(const Box& cells, Boundary boundary, RightSide right_side, std::int32_t ranks, double tolerance,
                     double disturb = 0, const Case& of = {}) {
  Answer answer;
  const auto [status, printed] = run_processes(ranks, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const CellGrid grid{cells, boundary};
    const RankGrid on = TRY(runtime->grid(cells));
    const LocalProblem problem = TRY(make_problem(grid, on, processes.rank(), right_side));
    const PoissonVariant& variant = variants()[of.variant];
    sparse::Factorisations factorisations;
    std::unique_ptr<PoissonSystem> system =
        TRY(PoissonSystem::make(problem, variant, of.parameters, factorisations, *runtime));
    const threads::ThreadedArray<double> b = TRY(system->renumbered(problem.right_side));
    threads::ThreadedArray<double> x = TRY(threads::ThreadedArray<double>::zeros(system->rows()));
    application::ApplicationRequest request;
    request.candidate.variant = &variant;
    request.method = of.method;
    request.tolerance = tolerance;
    Solved solved = TRY(poisson3d::solve(request, *system, runtime->sums(), b.span(), x.span(),
                                         norms_of(problem.matrix, *runtime), *runtime));
    x[0] += disturb;
    const std::vector<double> natural = system->natural(x.span());
    const nlohmann::json checked = TRY(check_solution(problem, natural, tolerance, solved.deviation, *runtime));
    if (processes.rank() == 0)
      answer = {std::move(solved), checked["error"], checked["bound"], checked["discretisation_error"],
                checked["right"],  natural};
    return Nothing{};
  });
  if (!status) return status.error();
  return answer;
}

TEST(Solve, EveryVariantFindsTheSolutionOfTheGoldenCopy) {
  for (const std::int32_t ranks : {1, 3}) {
    const auto solved = solve({7, 6, 9}, Boundary::zmax, RightSide::ones, ranks, 1e-10);
    ASSERT_TRUE(solved.ok()) << solved.error().sentence();
    const Answer& golden = *solved;
    for (std::size_t v = 1; v < variants().size(); ++v) {
      if (variants()[v].name == "amg" && !amg::is_available()) continue;
      for (const krylov::Method& method : krylov::methods()) {
        if (v > 2 && method.name != "cg") continue;
        const auto answer =
            solve({7, 6, 9}, Boundary::zmax, RightSide::ones, ranks, 1e-10, 0, {v, std::string(method.name)});
        ASSERT_TRUE(answer.ok()) << variants()[v].name << ": " << answer.error().sentence();
        EXPECT_TRUE(answer->right) << variants()[v].name << " " << method.name;
        EXPECT_TRUE(answer->solved.converged);
        EXPECT_LE(answer->solved.history.back(), 1e-10);
        // |x - x'| <= |A^-1| |r - r'|: the condition number of these cells is about 300.
        double difference = 0, size = 0;
        for (std::size_t i = 0; i < golden.x.size(); ++i) {
          difference = std::max(difference, std::abs(answer->x[i] - golden.x[i]));
          size = std::max(size, std::abs(golden.x[i]));
        }
        EXPECT_LE(difference, 1e-7 * size) << variants()[v].name << " " << method.name << " on " << ranks;
      }
    }
  }
}

TEST(Solve, IsRightOnAnyNumberOfRanks) {
  for (const Boundary boundary : {Boundary::zmax, Boundary::all})
    for (const std::int32_t ranks : {1, 2, 3, 4, 8}) {
      const auto answer = solve({9, 6, 8}, boundary, RightSide::ones, ranks, 1e-10);
      ASSERT_TRUE(answer.ok()) << answer.error().sentence();
      EXPECT_TRUE(answer->right) << answer->error << " " << answer->bound;
      EXPECT_LE(answer->bound, 1.2e-10) << "the bound stays near the tolerance";
      EXPECT_EQ(answer->solved.history.size(), static_cast<std::size_t>(answer->solved.iterations) + 1);
    }
}

// Rounding keeps the residual above it: no variant claims a convergence that is none.
TEST(Solve, AToleranceBelowRoundingIsRefused) {
  for (std::size_t v = 0; v < variants().size(); ++v) {
    if (variants()[v].name == "amg" && !amg::is_available()) continue;
    const auto answer = solve({8, 8, 8}, Boundary::zmax, RightSide::ones, 1, 1e-17, 0, {v});
    EXPECT_FALSE(answer.ok()) << variants()[v].name;
  }
}

TEST(Solve, ConvergesAtSecondOrderToTheManufacturedSolution) {
  for (const Boundary boundary : {Boundary::zmax, Boundary::all}) {
    const double coarse = solve({8, 8, 8}, boundary, RightSide::manufactured, 1, 1e-10)->discretisation;
    const double fine = solve({16, 16, 16}, boundary, RightSide::manufactured, 2, 1e-10)->discretisation;
    const double ratio = boundary == Boundary::all ? 17.0 / 9 : 2; // of the edges
    EXPECT_NEAR(std::log(coarse / fine) / std::log(ratio), 2, 0.1);
  }
}

TEST(Solve, AWrongSolutionIsFound) {
  for (const std::int32_t ranks : {1, 3}) {
    EXPECT_TRUE(solve({6, 6, 6}, Boundary::zmax, RightSide::ones, ranks, 1e-8)->right);
    EXPECT_FALSE(solve({6, 6, 6}, Boundary::zmax, RightSide::ones, ranks, 1e-8, 1e-6)->right);
  }
}

// A system of two rows of any numbers.
class TwoRows final : public krylov::LinearSystem {
 public:
  TwoRows(double a, double b, double c) : a_(a), b_(b), c_(c) {}
  std::int64_t rows() const override { return 2; }
  std::int64_t length() const override { return 2; }
  Status multiply(double* x, double* y) override {
    y[0] = a_ * x[0] + b_ * x[1], y[1] = b_ * x[0] + c_ * x[1];
    return Nothing{};
  }
  Status precondition(const double* r, double* z) override {
    z[0] = r[0], z[1] = r[1];
    return Nothing{};
  }

 private:
  double a_, b_, c_;
};

std::string error_of(TwoRows system, std::vector<double> b, golden::GoldenCgOptions options = {}) {
  krylov::SumsOfOne sums;
  std::vector<double> x(2);
  const auto solved = golden::solve(system, sums, b, x, options);
  return solved ? "" : solved.error().sentence();
}

TEST(Solve, WhatIsNotPositiveDefiniteIsRefused) {
  EXPECT_EQ(error_of({2, 0, 1}, {1, 1}), "");
  EXPECT_EQ(error_of({2, 0, 1}, {0, 0}), "") << "the solution is 0";
  EXPECT_NE(error_of({-1, 0, -1}, {1, 1}).find("curvature of a search direction is not positive: -2"),
            std::string::npos);
  EXPECT_NE(error_of({0, 0, 0}, {1, 1}).find("curvature"), std::string::npos);
  EXPECT_NE(error_of({NAN, 0, 1}, {1, 1}).find("not finite"), std::string::npos);
  for (const double wrong : {static_cast<double>(INFINITY), 1e-170, 1e170})
    EXPECT_NE(error_of({1, 0, 1}, {wrong, wrong}).find("the norm of the right-hand side must be 1e-140 to 1e140"),
              std::string::npos);
  EXPECT_NE(error_of({1, 0, 1}, {NAN, 1}).find("the right-hand side must not have a NaN"), std::string::npos);
  golden::GoldenCgOptions few;
  few.most_iterations = 1;
  EXPECT_NE(error_of({2, 1, 5}, {1, 1}, few).find("after 1 iterations"), std::string::npos);
  few.may_stop_early = true;
  EXPECT_EQ(error_of({2, 1, 5}, {1, 1}, few), "");
}

// A local solver of the identity, which tells when it multiplies and fails where it is asked to.
struct Probe {
  std::function<Status()> rows, ghosts, preconditioner; // called at each use; empty: success
};
class ProbedSolver final : public LocalSolver {
 public:
  ProbedSolver(std::int64_t rows, const Probe& probe) : rows_(rows), probe_(probe) {}
  Status multiply_rows(const double* x, double* y) override {
    std::copy_n(x, rows_, y);
    return probe_.rows ? probe_.rows() : Nothing{};
  }
  Status add_ghosts(const double*, double*) override { return probe_.ghosts ? probe_.ghosts() : Nothing{}; }
  Status precondition(const double* r, double* z) override {
    std::copy_n(r, rows_, z);
    return probe_.preconditioner ? probe_.preconditioner() : Nothing{};
  }
  application::KernelWork work_of_product() const override { return {}; }
  application::KernelWork work_of_preconditioner() const override { return {}; }
  nlohmann::json facts() const override { return nlohmann::json::object(); }

 private:
  std::int64_t rows_;
  Probe probe_;
};

// fn(system, runtime) on two ranks of a small box with the solver of `probe(rank)`.
Status on_two_ranks(const std::function<Probe(std::int32_t)>& probe,
                    const std::function<Status(PoissonSystem&, Runtime&)>& fn) {
  thread_local Probe mine; // PoissonVariant::make is a plain function
  const auto body = [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const CellGrid grid{{4, 3, 2}, Boundary::zmax};
    const RankGrid on = TRY(runtime->grid(grid.cells));
    const LocalProblem problem = TRY(make_problem(grid, on, processes.rank(), RightSide::ones));
    mine = probe(processes.rank());
    PoissonVariant variant;
    sparse::Factorisations factorisations;
    variant.make = [](const PoissonVariant&, const sparse::CrsMatrix& matrix, const ParameterValues&,
                      sparse::Factorisations&) -> Result<std::unique_ptr<LocalSolver>> {
      return std::unique_ptr<LocalSolver>(std::make_unique<ProbedSolver>(matrix.rows, mine));
    };
    std::unique_ptr<PoissonSystem> system = TRY(PoissonSystem::make(problem, variant, {}, factorisations, *runtime));
    return fn(*system, *runtime);
  };
  return run_processes(2, false, 1, body).first;
}

bool becomes_true(const std::function<bool()>& condition) {
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
       std::chrono::steady_clock::now() < end; std::this_thread::yield())
    if (condition()) return true;
  return false;
}

// Rank 0 sends nothing before rank 1 multiplies: rank 1 must not wait for its ghosts first.
TEST(PoissonSystem, MultipliesRowsWhileGhostsAreOnTheirWay) {
  std::atomic<bool> multiplies = false, in_time = false;
  const auto probe = [&](std::int32_t rank) {
    Probe probe;
    if (rank == 1) probe.rows = [&] { return multiplies = true, Status(Nothing{}); };
    return probe;
  };
  const Status status = on_two_ranks(probe, [&](PoissonSystem& system, Runtime& runtime) -> Status {
    if (runtime.rank() == 0) in_time = becomes_true([&] { return multiplies.load(); });
    std::vector<double> x(static_cast<std::size_t>(system.length()), 1.0 + runtime.rank()), y(x.size());
    if (Status s = system.multiply(x.data(), y.data()); !s) return s;
    if (system.length() == system.rows()) return failed("there are no ghosts");
    for (auto i = static_cast<std::size_t>(system.rows()); i < x.size(); ++i)
      if (x[i] != 2.0 - runtime.rank()) return failed("a ghost is wrong");
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  EXPECT_TRUE(in_time.load());
}

// Nobody waits for the sum: applying the preconditioner is enough to end it.
TEST(PoissonSystem, PreconditionersMoveSumsThatAreUnderWay) {
  const Status status = on_two_ranks([](std::int32_t) { return Probe{}; },
                                     [](PoissonSystem& system, Runtime& runtime) -> Status {
                                       std::array<double, 1> sum{1.0 + runtime.rank()};
                                       if (Status s = runtime.sums().start(sum); !s) return s;
                                       std::vector<double> r(static_cast<std::size_t>(system.length())), z(r.size());
                                       Status applied = Nothing{};
                                       const bool ended = becomes_true([&] {
                                         applied = system.precondition(r.data(), z.data());
                                         return !applied || sum[0] == 3;
                                       });
                                       if (Status s = runtime.sums().wait(); !s) return s;
                                       if (!applied) return applied;
                                       return ended ? Status(Nothing{}) : failed("the sum did not move");
                                     });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

// Rank 1 fails alone, at its nth use of a part: it says why, and rank 0 ends too instead of waiting for it.
TEST(GoldenSolve, OneRankThatFailsEndsAll) {
  enum class Part { rows, ghosts, preconditioner, memory };
  // Rows of a diagonal matrix, so that a solve takes several iterations.
  struct Diagonal final : krylov::LinearSystem {
    PoissonSystem* system = nullptr;
    bool has_memory = true;
    std::int64_t rows() const override { return system->rows(); }
    std::int64_t length() const override { return has_memory ? system->length() : std::int64_t{1} << 55; }
    Status multiply(double* x, double* y) override {
      const Status done = system->multiply(x, y);
      for (std::int64_t i = 0; i < rows(); ++i) y[i] *= 1.0 + static_cast<double>(i);
      return done;
    }
    Status precondition(const double* r, double* z) override { return system->precondition(r, z); }
  };
  for (const Part part : {Part::rows, Part::ghosts, Part::preconditioner, Part::memory})
    for (const int use : {1, 2, 4}) {
      std::array<std::string, 2> sentences;
      const auto probe = [&](std::int32_t rank) {
        Probe probe;
        if (rank == 0) return probe;
        const auto fail = [use, uses = 0]() mutable { return ++uses == use ? failed("it broke") : Status(Nothing{}); };
        if (part == Part::rows) probe.rows = fail;
        if (part == Part::ghosts) probe.ghosts = fail;
        if (part == Part::preconditioner) probe.preconditioner = fail;
        return probe;
      };
      const Status status = on_two_ranks(probe, [&](PoissonSystem& system, Runtime& runtime) -> Status {
        Diagonal diagonal;
        diagonal.system = &system;
        diagonal.has_memory = part != Part::memory || runtime.rank() == 0;
        const std::vector<double> b(static_cast<std::size_t>(system.rows()), 1.0);
        std::vector<double> x(b.size());
        const auto solved = golden::solve(diagonal, runtime.sums(), b, x, {});
        if (!solved) sentences[static_cast<std::size_t>(runtime.rank())] = solved.error().sentence();
        return Nothing{};
      });
      ASSERT_TRUE(status.ok()) << status.error().sentence();
      EXPECT_EQ(sentences[0], "the solve ends because another rank failed");
      const char* const why = part == Part::memory ? "not enough memory" : "it broke";
      EXPECT_NE(sentences[1].find(why), std::string::npos) << sentences[1];
    }
}

TEST(Application, RunsByItsRow) {
  const auto all = applications();
  const application::ApplicationTask task = *application::parse_task(
      R"({"application": "poisson3d", "size": "7x5x6", "options": {"rhs": "manufactured"}, "candidates": [{"variant": "golden"}]})",
      all);
  const auto [status, printed] = run_processes(2, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    application::ApplicationRequest request = task.request;
    request.candidate = task.candidates[0];
    const nlohmann::json found = TRY(request.application->run(request, *runtime));
    processes.print(found);
    return Nothing{};
  });
  ASSERT_TRUE(status.ok()) << status.error().sentence();
  const nlohmann::json& found = printed.back();
  EXPECT_EQ(found["unknowns"], 210);
  EXPECT_TRUE(found["converged"].get<bool>());
  EXPECT_TRUE(found["checked"]["right"].get<bool>());
  EXPECT_EQ(found["history"].size(), found["iterations"].get<std::size_t>() + 1);
  EXPECT_EQ(found["kernels"][0]["name"], "product");
  const std::vector<application::ProblemShare> shares = task.request.application->shares("128x192x64");
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].size + " " + shares[1].size, "32x48x16 64x96x32");
  EXPECT_DOUBLE_EQ(shares[0].work * shares[1].work, 64 * 8);
  EXPECT_DOUBLE_EQ(shares[0].iterations / shares[1].iterations, 2);
  EXPECT_TRUE(task.request.application->shares("a.mtx").empty());
  EXPECT_EQ(task.request.application->shares("64").size(), 1U);
  EXPECT_TRUE(task.request.application->shares("32").empty()) << "too small";
}

} // namespace
} // namespace kumihimo::poisson3d
