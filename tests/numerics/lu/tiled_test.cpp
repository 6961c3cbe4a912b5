// The factorisation by tasks has the pivots and factors of the sequential tournament of the same tree, whatever runs
// it.
#include "blas/blas.hpp"
#include "lu/golden_tournament.hpp"
#include "lu/test_matrix.hpp"
#include "lu/tiled.hpp"
#include "tasks/run_tasks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace kumihimo::lu {
namespace {

std::shared_ptr<const blas::Blas> one_thread_blas() {
  for (const char* const path : {"", "libblas.so.3"})
    if (const auto found = blas::Blas::open(path, "blas")) {
      (*found)->set_threads(1);
      return *found;
    }
  return nullptr;
}

using Schedule = Result<tasks::TaskLog> (*)(const tasks::TaskGraph&, int, const tasks::TaskWork&, tasks::TaskMessages*);

struct Tiles {
  Tiles(const TestMatrix& matrix, std::int64_t block) : n(matrix.size()), leading(n + 3), block(block) {
    const BlockCyclic all{n, n, 1};
    a.resize(static_cast<std::size_t>(leading * (n + 1)));
    for (std::int64_t j = 0; j <= n; ++j) matrix.fill(j, all, 0, a.data() + j * leading);
  }
  TiledMatrix view() { return {a.data(), leading, n, block}; }
  // With the exchanges of all panels, n x n.
  std::vector<double> factors(const std::vector<std::int64_t>& pivots) const {
    std::vector<double> lu;
    for (std::int64_t j = 0; j < n; ++j) lu.insert(lu.end(), a.begin() + j * leading, a.begin() + j * leading + n);
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t j = 0; j < k / block * block; ++j)
        std::swap(lu[static_cast<std::size_t>(k + j * n)],
                  lu[static_cast<std::size_t>(pivots[static_cast<std::size_t>(k)] + j * n)]);
    return lu;
  }
  std::int64_t n, leading, block;
  std::vector<double> a;
};

golden::Factors sequential(const TestMatrix& matrix, std::int64_t block) {
  const std::int64_t n = matrix.size();
  const BlockCyclic all{n, n, 1};
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j) matrix.fill(j, all, 0, a.data() + j * n);
  return *golden::factor_by_tournament(a, n, block, leaf_rows);
}

TEST(TiledLu, HasThePivotsAndFactorsOfTheSequentialTournament) {
  const auto blas = one_thread_blas();
  if (!blas) GTEST_SKIP() << "no BLAS library";
  for (const auto& [n, block] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 8}, {64, 16}, {97, 16}, {131, 32}}) {
    const TestMatrix matrix(MatrixKind::random, n, 7);
    const golden::Factors expected = sequential(matrix, block);
    std::optional<std::vector<double>> first;
    for (const Schedule run : {&tasks::run_tasks, &tasks::run_by_openmp, &tasks::run_by_tbb})
      for (const int threads : {1, 2, 3})
        for (const TiledFactorisation::Split& split :
             {TiledFactorisation::Split{0.0, 1, 1}, {0.5, 2, 1}, {1.0, 3, 1}, {0.3, 1, 2}}) {
          Tiles tiles(matrix, block);
          TiledFactorisation factors(tiles.view(), *blas, threads, split);
          const Result<tasks::TaskLog> log = run(
              factors.graph(), threads, [&](tasks::TaskId id, int thread) { return factors.run(id, thread); }, nullptr);
          if (!log) {
            ASSERT_EQ(log.error().kind, Error::Kind::not_applicable) << log.error().sentence();
            continue;
          }
          const Status checked = tasks::check(*log, factors.graph(), run == &tasks::run_tasks);
          ASSERT_TRUE(checked.ok()) << checked.error().sentence();
          EXPECT_EQ(factors.pivots(), expected.pivots) << n << " rows, " << threads << " threads";
          const std::vector<double> lu = tiles.factors(factors.pivots());
          for (std::size_t i = 0; i < lu.size(); ++i) ASSERT_NEAR(lu[i], expected.lu[i], 1e-8) << i;
          if (!first) first = tiles.a;
          if (split.static_share == 0.0) {
            EXPECT_EQ(tiles.a, *first) << "other bits on " << threads << " threads";
          }
        }
  }
}

// Leaves that are matched: more rows than leaf_rows.
TEST(TiledLu, HasTheSamePivotsWithSeveralLeaves) {
  const auto blas = one_thread_blas();
  if (!blas) GTEST_SKIP() << "no BLAS library";
  const std::int64_t n = 2 * leaf_rows + 300, width = 24; // one panel tells; three leaves
  const TestMatrix matrix(MatrixKind::random, n, 3);
  Tiles tiles(matrix, width);
  TiledFactorisation factors(tiles.view(), *blas, 2, {0.5, 4, 1});
  const Result<tasks::TaskLog> log = tasks::run_tasks(factors.graph(), 2, [&](tasks::TaskId id, int thread) {
    const TiledFactorisation::Step& step = factors.step(id);
    return step.panel == 0 && step.kind != TiledFactorisation::Kind::update ? factors.run(id, thread)
                                                                            : Status(Nothing{});
  });
  ASSERT_TRUE(log.ok());
  const BlockCyclic all{n, n, 1};
  golden::Factors alone{n, std::vector<double>(static_cast<std::size_t>(n * width)), {}};
  for (std::int64_t j = 0; j < width; ++j) matrix.fill(j, all, 0, alone.lu.data() + j * n);
  EXPECT_EQ(std::vector<std::int64_t>(factors.pivots().begin(), factors.pivots().begin() + width),
            golden::pivots_of_panel(alone, 0, width, leaf_rows, {n, width, 1}));
}

TEST(TiledLu, ASingularMatrixEndsTheRun) {
  const auto blas = one_thread_blas();
  if (!blas) GTEST_SKIP() << "no BLAS library";
  const TestMatrix matrix(MatrixKind::singular, 40, 1);
  for (const Schedule run : {&tasks::run_tasks, &tasks::run_by_openmp}) {
    Tiles tiles(matrix, 8);
    TiledFactorisation factors(tiles.view(), *blas, 2, {0.5, 4, 1});
    const Result<tasks::TaskLog> log = run(
        factors.graph(), 2, [&](tasks::TaskId id, int thread) { return factors.run(id, thread); }, nullptr);
    ASSERT_FALSE(log.ok());
    EXPECT_EQ(log.error().sentence(), "the matrix is singular: column 20 has no pivot (got 0); use another matrix");
    EXPECT_EQ(log.error().kind, Error::Kind::failed);
  }
}

TEST(TiledLu, NamesItsTasks) {
  const auto blas = one_thread_blas();
  if (!blas) GTEST_SKIP() << "no BLAS library";
  Tiles tiles(TestMatrix(MatrixKind::random, 20, 1), 10);
  const TiledFactorisation factors(tiles.view(), *blas, 2, {1.0, 2, 1});
  std::vector<std::string> names;
  for (tasks::TaskId id = 0; id < factors.graph().size(); ++id) names.push_back(factors.name_of(id));
  EXPECT_EQ(names,
            (std::vector<std::string>{"candidates of panel 0, rows 0", "panel 0", "L of panel 0, rows 0",
                                      "update of column 1 by panel 0", "update of column 2 by panel 0",
                                      "candidates of panel 1, rows 0", "panel 1", "update of column 2 by panel 1"}));
  for (tasks::TaskId id = 0; id < factors.graph().size(); ++id)
    EXPECT_NE(factors.graph().task(id).owner, tasks::any_thread);
}

} // namespace
} // namespace kumihimo::lu
