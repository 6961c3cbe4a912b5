// The golden copy of poisson3d against dense algebra, the same problem on any grid of ranks, and its check.
#include "application/request.hpp"
#include "applications.hpp"
#include "loopback/loopback_processes.hpp"
#include "poisson3d/check.hpp"
#include "poisson3d/golden.hpp"
#include "poisson3d/local_system.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace kumihimo::poisson3d {
namespace {

using application::choose_grid, application::Processes, application::RankGrid, application::run_processes,
    application::Runtime;
using Box = std::array<std::int64_t, 3>;

std::int64_t number_of(const Box& cells, const Box& cell) {
  return cell[0] + cells[0] * (cell[1] + cells[1] * cell[2]);
}

// The global number of each column of a rank's matrix, by the cells of the ranks alone.
std::vector<std::int64_t> columns_of(const Grid& grid, const RankGrid& ranks, std::int32_t rank,
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
Entries entries_of(const Grid& grid, const RankGrid& ranks) {
  Entries entries;
  for (std::int32_t r = 0; r < ranks.count(); ++r) {
    const LocalProblem problem = *make_problem(grid, ranks, r, RightSide::ones);
    const std::vector<std::int64_t> columns = columns_of(grid, ranks, r, problem);
    const LocalMatrix& m = problem.matrix;
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
    Grid grid;
    for (auto& n : grid.cells) n = 1 + static_cast<std::int64_t>(random() % 5);
    grid.boundary = i % 2 == 0 ? Boundary::zmax : Boundary::all;
    const Entries whole = entries_of(grid, RankGrid{});
    for (const auto& [place, value] : whole) {
      const auto mirrored = whole.find({place.second, place.first});
      ASSERT_NE(mirrored, whole.end());
      EXPECT_EQ(mirrored->second, value);
    }
    for (const std::int32_t ranks : {2, 3, 4, 6, 8})
      if (const auto on = choose_grid(ranks, grid.cells)) EXPECT_EQ(entries_of(grid, *on), whole);
  }
}

TEST(BoxMatrix, RowsAreThoseOfTheStencil) {
  Grid grid{{3, 3, 3}, Boundary::all};
  const LocalMatrix all = make_problem(grid, {}, 0, RightSide::ones)->matrix;
  const double h = 1.0 / 4;
  EXPECT_EQ(all.entries(), 27 + 2 * 54);
  for (std::size_t e = 0; e < all.value.size(); ++e) EXPECT_TRUE(all.value[e] == 6 * h || all.value[e] == -h);
  grid.boundary = Boundary::zmax; // every row of a plane z = const adds to 0, but for the last, where the face adds 2 h
  const LocalMatrix top = make_problem(grid, {}, 0, RightSide::ones)->matrix;
  for (std::int32_t i = 0; i < top.rows; ++i) {
    double sum = 0;
    for (auto e = top.begin[static_cast<std::size_t>(i)]; e < top.begin[static_cast<std::size_t>(i) + 1]; ++e)
      sum += top.value[static_cast<std::size_t>(e)];
    EXPECT_NEAR(sum, i < 18 ? 0 : 2.0 / 3, 1e-14) << i;
  }
}

// M = (D + L) D^-1 (D + L^T), dense, column by column from the preconditioner's own definition.
TEST(Golden, TheFactorHasTheEntriesOfTheMatrixOnItsPattern) {
  for (const Boundary boundary : {Boundary::zmax, Boundary::all}) {
    const LocalMatrix a = make_problem({{3, 4, 2}, boundary}, {}, 0, RightSide::ones)->matrix;
    const golden::Factor factor = *golden::factorise(a);
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<std::vector<double>> dense(n, std::vector<double>(n)), m = dense;
    for (std::size_t i = 0; i < n; ++i)
      for (auto e = a.begin[i]; e < a.begin[i + 1]; ++e)
        dense[i][static_cast<std::size_t>(a.column[static_cast<std::size_t>(e)])] =
            a.value[static_cast<std::size_t>(e)];
    const auto lower = [&](std::size_t i, std::size_t k) {
      return i == k ? factor.pivot[i] : i > k ? dense[i][k] : 0.0;
    };
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < n; ++k) m[i][j] += lower(i, k) * lower(j, k) / factor.pivot[k];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (dense[i][j] != 0) {
          EXPECT_NEAR(m[i][j], dense[i][j], 1e-13) << i << " " << j;
        }
    std::mt19937 random(4); // precondition() solves M z = r
    std::vector<double> r(n), z(n);
    for (double& value : r) value = static_cast<double>(random() % 1000) / 500 - 1;
    golden::precondition(a, factor, r.data(), z.data());
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += m[i][j] * z[j];
      EXPECT_NEAR(sum, r[i], 1e-12);
    }
  }
}

TEST(Golden, APivotThatIsNotPositiveIsRefused) {
  LocalMatrix a;
  a.rows = a.columns = 2;
  a.begin = {0, 2, 4};
  a.column = {0, 1, 0, 1};
  a.value = {1, -2, -2, 1};
  EXPECT_NE(golden::factorise(a).error().sentence().find("row 2 must have a positive pivot (got -3)"),
            std::string::npos);
}

struct Answer {
  golden::Solved solved;
  double error = 0, bound = 0, discretisation = 0;
  bool right = false;
  std::vector<double> x; // of one rank
};

Result<Answer> solve(const Box& cells, Boundary boundary, RightSide right_side, std::int32_t ranks, double tolerance,
                     double disturb = 0) {
  Answer answer;
  const auto [status, printed] = run_processes(ranks, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const Grid grid{cells, boundary};
    const RankGrid on = TRY(runtime->grid(cells));
    const LocalProblem problem = TRY(make_problem(grid, on, processes.rank(), right_side));
    std::unique_ptr<LocalSystem> system = TRY(LocalSystem::make(problem, variants()[0], {}, *runtime));
    std::vector<double> x(problem.right_side.size());
    golden::Options options;
    options.tolerance = tolerance;
    const golden::Solved solved = TRY(golden::solve(*system, runtime->sums(), problem.right_side, x, options));
    x[0] += disturb;
    const nlohmann::json checked = TRY(check_solution(problem, tolerance, solved, x, *runtime));
    if (processes.rank() == 0)
      answer = {solved, checked["error"], checked["bound"], checked["discretisation_error"], checked["right"], x};
    return Nothing{};
  });
  if (!status) return status.error();
  return answer;
}

TEST(Solve, IsRightOnAnyNumberOfRanks) {
  for (const Boundary boundary : {Boundary::zmax, Boundary::all})
    for (const std::int32_t ranks : {1, 2, 3, 4, 8}) {
      const auto answer = solve({9, 6, 8}, boundary, RightSide::ones, ranks, 1e-10);
      ASSERT_TRUE(answer.ok()) << answer.error().sentence();
      EXPECT_TRUE(answer->right) << answer->error << " " << answer->bound;
      EXPECT_LE(answer->bound, 1.1e-10) << "the bound stays near the tolerance";
      EXPECT_EQ(answer->solved.history.size(), static_cast<std::size_t>(answer->solved.iterations) + 1);
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

std::string error_of(TwoRows system, std::vector<double> b, golden::Options options = {}) {
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
  EXPECT_NE(error_of({1, 0, 1}, {INFINITY, 1}).find("not finite"), std::string::npos);
  golden::Options few;
  few.most_iterations = 1;
  EXPECT_NE(error_of({2, 1, 5}, {1, 1}, few).find("after 1 iterations"), std::string::npos);
  few.may_stop_early = true;
  EXPECT_EQ(error_of({2, 1, 5}, {1, 1}, few), "");
}

TEST(Application, RunsByItsRow) {
  const auto all = applications();
  const application::Task task = *application::parse_task(
      R"({"application": "poisson3d", "size": "7x5x6", "options": {"rhs": "manufactured"}, "candidates": [{"variant": "golden"}]})",
      all);
  const auto [status, printed] = run_processes(2, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    application::Request request = task.request;
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
  EXPECT_EQ(task.request.application->smaller_size("128x96x64"), "32x24x16");
  EXPECT_EQ(task.request.application->smaller_size("a.mtx"), "");
}

} // namespace
} // namespace kumihimo::poisson3d
