#include "hpcg/benchmark.hpp"
#include "hpcg/rating.hpp"
#include "hpcg/reference.hpp"
#include "hpcg/system.hpp"
#include "hpcg/validation.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace kumihimo::hpcg {
namespace {

const HpcgGrid grid{16, 24, 32};
const std::vector<OrderingKind> kinds = {OrderingKind::levels, OrderingKind::colours};

std::vector<double> random_vector(std::int64_t rows, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> x(static_cast<std::size_t>(rows));
  for (double& each : x) each = uniform(random);
  return x;
}

double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::fabs(x[i] - y[i]));
  return largest;
}

// The operations of a system on a vector in natural order.
std::vector<double> applied(System& system, const std::vector<double>& x, bool preconditioner) {
  std::vector<double> in(x.size()), out(x.size()), natural(x.size());
  system.to_system(x.data(), in.data());
  EXPECT_TRUE(
      (preconditioner ? system.precondition(in.data(), out.data()) : system.multiply(in.data(), out.data())).ok());
  system.to_natural(out.data(), natural.data());
  return natural;
}

TEST(System, MultipliesAsTheGoldenCopy) {
  const auto matrices = make_levels(grid);
  Result<Reference> reference = Reference::make(*matrices);
  std::vector<double> x = random_vector(grid.rows(), 1), expected(x.size());
  ASSERT_TRUE(reference->multiply(x.data(), expected.data()).ok());
  for (const OrderingKind kind : kinds) {
    Result<System> system = System::make(*matrices, kind);
    ASSERT_TRUE(system);
    // 27 products of at most 26 in two orders.
    EXPECT_LE(largest_difference(applied(*system, x, false), expected), 2 * 27 * 0x1p-53 * 52);
  }
}

// By levels the sweeps are those of the sequential ones, so that the V-cycle is the golden copy's but for rounding. The
// bound: some 10^3 operations of relative error 2^-53 on values of at most 1.
TEST(System, ByLevelsPreconditionsAsTheGoldenCopy) {
  const auto matrices = make_levels(grid);
  Result<Reference> reference = Reference::make(*matrices);
  const std::vector<double> r = random_vector(grid.rows(), 2);
  std::vector<double> expected(r.size());
  ASSERT_TRUE(reference->precondition(r.data(), expected.data()).ok());
  Result<System> system = System::make(*matrices, OrderingKind::levels);
  EXPECT_LE(largest_difference(applied(*system, r, true), expected), 1e-13);
  Result<System> coloured = System::make(*matrices, OrderingKind::colours);
  EXPECT_GE(largest_difference(applied(*coloured, r, true), expected), 1e-6)
      << "another order is another preconditioner";
}

// What the shortcuts of the sweeps leave out: the same V-cycle by sweeps over whole rows, in the order of the colours.
TEST(System, ByColoursPreconditionsAsWholeSweepsInThatOrder) {
  const auto matrices = make_levels(grid);
  Result<System> system = System::make(*matrices, OrderingKind::colours);
  std::vector<Ordering> orders;
  for (const HpcgMatrix& each : *matrices) {
    const bool has_coarser = &each != &matrices->back();
    orders.push_back(make_ordering(each, OrderingKind::colours,
                                   has_coarser ? coarse_points(each.grid) : std::vector<std::int32_t>{}));
  }
  const auto cycle = [&](auto&& self, std::size_t level, const std::vector<double>& r) -> std::vector<double> {
    const HpcgMatrix& a = (*matrices)[level];
    std::vector<double> x(r.size(), 0.0);
    const auto relax = [&](std::int64_t i) {
      double sum = r[static_cast<std::size_t>(i)];
      for (std::int64_t k = a.row_begin[i]; k < a.row_begin[i + 1]; ++k)
        if (a.columns[k] != i) sum -= a.values[k] * x[static_cast<std::size_t>(a.columns[k])];
      x[static_cast<std::size_t>(i)] = sum / 26;
    };
    const auto smooth = [&] {
      const auto& rows = orders[level].old_of_new;
      for (auto i = rows.begin(); i != rows.end(); ++i) relax(*i);
      for (auto i = rows.rbegin(); i != rows.rend(); ++i) relax(*i);
    };
    smooth();
    if (level + 1 == matrices->size()) return x;
    const std::vector<std::int32_t> points = coarse_points(a.grid);
    std::vector<double> coarse;
    for (const std::int32_t i : points) {
      double residual = r[static_cast<std::size_t>(i)];
      for (std::int64_t k = a.row_begin[i]; k < a.row_begin[i + 1]; ++k)
        residual -= a.values[k] * x[static_cast<std::size_t>(a.columns[k])];
      coarse.push_back(residual);
    }
    const std::vector<double> correction = self(self, level + 1, coarse);
    for (std::size_t i = 0; i < points.size(); ++i) x[static_cast<std::size_t>(points[i])] += correction[i];
    smooth();
    return x;
  };
  const std::vector<double> r = random_vector(grid.rows(), 3);
  EXPECT_LE(largest_difference(applied(*system, r, true), cycle(cycle, 0, r)), 1e-13);
}

TEST(System, GivesTheSameBitsOnEveryNumberOfThreads) {
  const auto matrices = make_levels(grid);
  const std::vector<double> r = random_vector(grid.rows(), 4);
  for (const OrderingKind kind : kinds) {
    std::vector<std::vector<double>> results, solutions;
    for (const int team : {1, 2, 3}) {
      ASSERT_TRUE(threads::use(team).ok());
      Result<System> system = System::make(*matrices, kind);
      results.push_back(applied(*system, r, true));
      krylov::SumsOfOne sums;
      Result<Cg> cg = Cg::make(*system, sums);
      std::vector<double> x(r.size(), 0.0);
      ASSERT_TRUE(cg->solve(r.data(), x.data(), 7, 0, true));
      solutions.push_back(x);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
    EXPECT_EQ(solutions[0], solutions[1]);
    EXPECT_EQ(solutions[0], solutions[2]);
  }
  ASSERT_TRUE(threads::use(1).ok());
}

TEST(Validation, PassesForBothOrderingsAndTheGoldenCopy) {
  const auto matrices = make_levels(grid);
  krylov::SumsOfOne sums;
  Result<Reference> reference = Reference::make(*matrices);
  EXPECT_TRUE(test_symmetry(*reference, sums)->passed());
  for (const OrderingKind kind : kinds) {
    Result<System> system = System::make(*matrices, kind);
    EXPECT_TRUE(test_symmetry(*system, sums)->passed());
    std::vector<double> b(static_cast<std::size_t>(grid.rows()));
    std::vector<double> natural(b.size());
    right_hand_side(matrices->front(), natural.data());
    system->to_system(natural.data(), b.data());
    const std::vector<double> before(system->finest().diagonal(), system->finest().diagonal() + grid.rows());
    const Result<Convergence> found = test_convergence(*system, sums, b.data());
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->passed()) << found->plain << " " << found->preconditioned;
    EXPECT_GT(found->plain, 2);
    EXPECT_TRUE(std::equal(before.begin(), before.end(), system->finest().diagonal())) << "the diagonal is restored";
  }
}

// Sabotage: what the tests are for.
class Broken final : public krylov::LinearSystem {
 public:
  Broken(krylov::LinearSystem& inner, bool matrix) : inner_(inner), matrix_(matrix) {}
  std::int64_t rows() const override { return inner_.rows(); }
  std::int64_t length() const override { return inner_.length(); }
  Status multiply(double* x, double* y) override {
    (void)TRY(inner_.multiply(x, y));
    if (matrix_) y[3] += x[rows() - 1];
    return Nothing{};
  }
  Status precondition(const double* r, double* z) override {
    (void)TRY(inner_.precondition(r, z));
    if (!matrix_)
      for (std::int64_t i = 0; i < rows() / 2; ++i) z[i] += r[i + rows() / 2];
    return Nothing{};
  }

 private:
  krylov::LinearSystem& inner_;
  bool matrix_;
};

TEST(Validation, FindsWhatIsNotSymmetric) {
  const auto matrices = make_levels({16, 16, 16});
  krylov::SumsOfOne sums;
  Result<Reference> reference = Reference::make(*matrices);
  Broken matrix(*reference, true), preconditioner(*reference, false);
  EXPECT_GT(test_symmetry(matrix, sums)->matrix, 1);
  EXPECT_GT(test_symmetry(preconditioner, sums)->preconditioner, 1);
}

TEST(Validation, FindsSetsThatDiffer) {
  const std::vector<double> equal(5, 0.25), unequal = {0.25, 0.5};
  EXPECT_TRUE(test_repetition(equal).passed());
  EXPECT_FALSE(test_repetition(unequal).passed());
  EXPECT_NEAR(test_repetition(unequal).variance, 0.015625, 1e-15);
}

TEST(Benchmark, ReachesTheReductionOfTheReference) {
  for (const OrderingKind kind : kinds) {
    auto made = Benchmark::make({32, 32, 32});
    ASSERT_TRUE(made);
    Benchmark& run = **made;
    const Result<CgResult> reference = run.run_reference();
    ASSERT_TRUE(reference);
    EXPECT_EQ(reference->iterations, 50);
    EXPECT_LT(reference->reduction(), 1e-6);
    ASSERT_TRUE(run.optimise(kind).ok());
    run.free_reference();
    const Result<CgResult> converged = run.converge();
    ASSERT_TRUE(converged) << converged.error().sentence();
    EXPECT_LE(converged->reduction(), reference->reduction() * (1 + 1e-6));
    EXPECT_GE(run.iterations(), 50);
    if (kind == OrderingKind::levels) {
      EXPECT_EQ(run.iterations(), 50) << "the order of the reference";
    }
    const Result<CgResult> set = run.run_set(), again = run.run_set();
    ASSERT_TRUE(set && again);
    EXPECT_EQ(set->iterations, run.iterations());
    EXPECT_EQ(set->reduction(), again->reduction());
    EXPECT_LT(run.error(), 1e-9);
  }
}

TEST(Benchmark, RefusesAPhaseWhoseFormerOneWasLeftOut) {
  auto made = Benchmark::make({16, 16, 16});
  ASSERT_TRUE(made);
  Benchmark& run = **made;
  const auto expect = [](const auto& result, const std::string& sentence) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().sentence(), sentence);
  };
  const std::string no_system = "there is no optimised system; call optimise() first";
  expect(run.validate(), no_system);
  expect(run.converge(), no_system);
  expect(run.run_set(), no_system);
  expect(run.groups(), no_system);
  expect(run.bytes_per_iteration(), no_system);
  ASSERT_TRUE(run.optimise(OrderingKind::colours));
  expect(run.converge(), "there is no reduction to reach; call run_reference() first");
  EXPECT_TRUE(run.run_set());
  EXPECT_EQ(*run.groups(), 8);
  run.free_reference();
  const std::string no_matrices = "free_reference() has freed the matrices of the reference; make another benchmark";
  expect(run.run_reference(), no_matrices);
  expect(run.optimise(OrderingKind::levels), no_matrices);
  EXPECT_TRUE(run.validate());
  EXPECT_TRUE(run.run_set());
}

TEST(Benchmark, RefusesWrongGrids) {
  EXPECT_FALSE(Benchmark::make({12, 16, 16}).ok());
  EXPECT_FALSE(Benchmark::make({16, 16, 8}).ok());
}

TEST(Cg, SaysThatAMatrixIsNotPositiveDefinite) {
  class Negative final : public krylov::LinearSystem {
   public:
    std::int64_t rows() const override { return 10; }
    std::int64_t length() const override { return 10; }
    Status multiply(double* x, double* y) override {
      for (int i = 0; i < 10; ++i) y[i] = -x[i];
      return Nothing{};
    }
    Status precondition(const double* r, double* z) override {
      std::copy(r, r + 10, z);
      return Nothing{};
    }
  } system;
  krylov::SumsOfOne sums;
  Result<Cg> cg = Cg::make(system, sums);
  std::vector<double> b(10, 1.0), x(10, 0.0);
  const Result<CgResult> done = cg->solve(b.data(), x.data(), 10, 0, true);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().sentence().find("positive definite"), std::string::npos);
}

// Counted by going through the operations of the reference algorithm on the real matrices.
TEST(Rating, CountsTheOperationsOfTheReference) {
  const auto matrices = make_levels(grid);
  double counted = 0;
  const auto vectors = [&](int times) { counted += times * 2.0 * static_cast<double>(grid.rows()); };
  const auto product = [&](const HpcgMatrix& a) { counted += 2.0 * static_cast<double>(a.row_begin[a.rows()]); };
  const int sets = 3, iterations = 7;
  for (int set = 0; set < sets; ++set) {
    product(matrices->front());
    vectors(2); // r = b - A x; (r, r)
    for (int i = 0; i < iterations; ++i) {
      for (std::size_t level = 0; level < matrices->size(); ++level) {
        const HpcgMatrix& a = (*matrices)[level];
        const bool coarsest = level + 1 == matrices->size();
        for (int sweep = 0; sweep < (coarsest ? 2 : 4); ++sweep) product(a); // each reads every entry once
        if (!coarsest) product(a);
      }
      product(matrices->front());
      vectors(6); // (r, z), (p, A p), (r, r); p, x, r
    }
  }
  EXPECT_EQ(operations(grid, sets, iterations).total(), counted);
}

TEST(Rating, ChargesMoreIterationsAndATenthOfThePreparation) {
  const double work = operations(grid, 1, 50).total();
  EXPECT_NEAR(rating(grid, 1, 50, {.sets = 2}), work / 2 * 1e-9, 1e-15);
  const double of_60 = operations(grid, 1, 60).total() * 50 / 60;
  EXPECT_NEAR(rating(grid, 1, 60, {.sets = 2}), of_60 / 2 * 1e-9, 1e-15);
  EXPECT_NEAR(rating(grid, 2, 50, {.sets = 2, .set_up = 3, .optimisation = 7}),
              operations(grid, 2, 50).total() / 4 * 1e-9, 1e-12);
}

} // namespace
} // namespace kumihimo::hpcg
