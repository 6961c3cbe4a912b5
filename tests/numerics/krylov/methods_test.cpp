// All methods on one process: solutions, iterations, accuracy, and the sentence of every failure.
#include "krylov/solve.hpp"
#include "systems.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>

#include <map>

namespace kumihimo::krylov {
namespace {

struct Result1 {
  std::vector<double> x;
  Solution solution;
  Status status = Nothing{};
  std::string sentence() const { return status ? "" : status.error().sentence(); }
};

Result1 solve_with(const Method& method, LinearSystem& system, std::span<const double> b, SolverOptions options = {}) {
  Result1 made;
  made.x.assign(b.size(), 0);
  SumsOfOne sums;
  made.status = solve(method, system, sums, b, made.x, options, made.solution);
  return made;
}

const Method& method(std::string_view name) { return **find_method(name); }

class Krylov : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(threads::use(1).ok()); }
};

TEST_F(Krylov, AllMethodsReachTheSolutionInAboutTheIterationsOfCg) {
  std::vector<SparseSystem> systems{random_dense(60, 3), laplacian(200, 1), laplacian(8, 3), laplacian(1, 1)};
  for (SparseSystem& system : systems) {
    const std::vector<double> exact = random_vector(system.n, 9);
    std::vector<double> in = exact, b(exact.size());
    ASSERT_TRUE(system.multiply(in.data(), b.data()));
    const std::int64_t expected = solve_with(method("cg"), system, b, {.tolerance = 1e-12}).solution.iterations;
    for (const Method& each : methods()) {
      const Result1 got = solve_with(each, system, b, {.tolerance = 1e-12});
      ASSERT_TRUE(got.status) << each.name << ": " << got.sentence();
      EXPECT_LE(true_residual(system, b, got.x), 1.01e-12) << each.name;
      EXPECT_NEAR(got.solution.residual, true_residual(system, b, got.x), 1e-14) << each.name;
      EXPECT_LE(got.solution.iterations, expected + expected / 20 + 2) << each.name;
      EXPECT_EQ(got.solution.history.size(), static_cast<std::size_t>(got.solution.iterations) + 1) << each.name;
      // ||x - exact|| <= condition * residual: 200 points have a condition of 1.6e4.
      for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(got.x[i], exact[i], 1e-7) << each.name;
    }
  }
}

TEST_F(Krylov, SolutionsHaveTheSameBitsOnAnyNumberOfThreads) {
  SparseSystem system = laplacian(14, 3);
  const std::vector<double> b = random_vector(system.n);
  for (const Method& each : methods()) {
    std::vector<double> first;
    for (const int team : {1, 2, 3}) {
      ASSERT_TRUE(threads::use(team).ok());
      const Result1 got = solve_with(each, system, b);
      ASSERT_TRUE(got.status) << got.sentence();
      if (team == 1) first = got.x;
      EXPECT_EQ(first, got.x) << each.name << " on " << team;
    }
  }
}

// The work of an iteration is what the rows of methods.def say: one product and one preconditioner.
TEST_F(Krylov, AnIterationHasOneProductAndOnePreconditioner) {
  for (const Method& each : methods()) {
    if (each.iterations_of_step() > 1) continue;
    SparseSystem system = laplacian(10, 3);
    const std::vector<double> b = random_vector(system.n);
    const Result1 got = solve_with(each, system, b);
    ASSERT_TRUE(got.status) << got.sentence();
    const std::int64_t few = 4 + 4 * got.solution.replacements;
    EXPECT_NEAR(static_cast<double>(system.products), static_cast<double>(got.solution.iterations),
                static_cast<double>(few))
        << each.name;
    EXPECT_NEAR(static_cast<double>(system.preconditioners), static_cast<double>(got.solution.iterations),
                static_cast<double>(few))
        << each.name;
  }
}

// Sabotage: without replacement the recursion of the pipelined method loses so many digits that a solver which trusts
// it returns a wrong solution.
TEST_F(Krylov, PipelinedNeedsResidualReplacement) {
  SparseSystem system = laplacian(20, 3);
  const std::vector<double> b = random_vector(system.n);
  const double tolerance = 1e-14;
  double least = 1;
  SolverOptions options{.tolerance = tolerance, .largest_deviation = 0};
  options.progress = [&](const SolverProgress& p) { return least = p.residual, p.residual > tolerance; };
  const Result1 trusting = solve_with(method("pipelined"), system, b, options);
  EXPECT_EQ(trusting.solution.ending, Ending::stopped);
  EXPECT_LE(least, tolerance);
  EXPECT_EQ(trusting.solution.replacements, 0);
  EXPECT_GT(true_residual(system, b, trusting.x), 5 * tolerance);

  for (const SolverOptions& replacing :
       {SolverOptions{.tolerance = tolerance},
        SolverOptions{.tolerance = tolerance, .replace_every = 20, .largest_deviation = 0}}) {
    const Result1 got = solve_with(method("pipelined"), system, b, replacing);
    ASSERT_TRUE(got.status) << got.sentence();
    EXPECT_LE(true_residual(system, b, got.x), 1.01 * tolerance);
    EXPECT_GT(got.solution.replacements, 1);
  }
}

// The estimate replaces before the recursion has lost what the tolerance asks for.
TEST_F(Krylov, ReplacementKeepsTheResidualTrueOfAnIllConditionedMatrix) {
  SpectrumSystem system(200, 1e5);
  const std::vector<double> b = random_vector(200);
  const Result1 without = solve_with(method("pipelined"), system, b,
                                     {.tolerance = 1e-9, .max_iterations = 20000, .largest_deviation = 0}),
                with = solve_with(method("pipelined"), system, b, {.tolerance = 1e-9, .max_iterations = 20000});
  ASSERT_TRUE(with.status) << with.sentence();
  EXPECT_LE(true_residual(system, b, with.x), 1.01e-9);
  // Without it the recursion falls to about 1e-8 while the true residual stays above 1e-2.
  EXPECT_EQ(without.solution.ending, Ending::stagnation) << without.sentence();
  EXPECT_EQ(without.solution.replacements, 1) << "the one that finds it";
  EXPECT_GT(without.solution.residual, 1e-2);
  EXPECT_LE(*std::min_element(without.solution.history.begin(), without.solution.history.end()), 1e-7);
  EXPECT_GT(without.solution.largest_deviation, 1e4 * with.solution.largest_deviation);
}

// Every method has an estimate. It is at least half of the deviation, and at most a hundred times (with a condition of
// 1e4 and hundreds of iterations a thousand times) as large.
TEST_F(Krylov, TheEstimateOfTheDeviationIsWithinItsBounds) {
  SparseSystem box = laplacian(20, 3), line = laplacian(200, 1), dense = random_dense(60, 3);
  SpectrumSystem ill_conditioned(200, 1e4);
  const std::vector<std::pair<LinearSystem*, double>> systems{
      {&box, 100}, {&line, 100}, {&dense, 100}, {&ill_conditioned, 1000}};
  for (const auto& [system, factor] : systems)
    for (const double tolerance : {1e-6, 1e-8})
      for (const Method& each : methods()) {
        const std::vector<double> b = random_vector(system->rows());
        const Result1 got = solve_with(each, *system, b, {.tolerance = tolerance, .largest_deviation = 0});
        ASSERT_TRUE(got.status) << got.sentence();
        EXPECT_GT(got.solution.largest_deviation, 0) << each.name;
        EXPECT_GT(got.solution.estimated_deviation, got.solution.largest_deviation / 2) << each.name;
        EXPECT_LT(got.solution.estimated_deviation, got.solution.largest_deviation * factor) << each.name;
      }
}

// One product of the wrong sign makes w.u negative: the method replaces, and p and s, which are those of the last
// iteration, keep their curvature.
TEST_F(Krylov, PipelinedGoesOnAfterAWrongProduct) {
  struct OnceWrong : SparseSystem {
    std::int64_t wrong = 0;
    Status multiply(double* x, double* y) override {
      (void)SparseSystem::multiply(x, y);
      if (products == wrong)
        for (std::int64_t i = 0; i < n; ++i) y[i] = -y[i];
      return Nothing{};
    }
  };
  SparseSystem usual = laplacian(12, 3);
  const std::vector<double> b = random_vector(usual.n);
  const Solution expected = solve_with(method("pipelined"), usual, b).solution;
  for (std::int64_t wrong = 4; wrong <= 28; ++wrong) { // of iterations before the estimate replaces for the first time
    OnceWrong system;
    static_cast<SparseSystem&>(system) = laplacian(12, 3);
    system.wrong = wrong;
    const Result1 got = solve_with(method("pipelined"), system, b);
    ASSERT_TRUE(got.status) << got.sentence();
    EXPECT_LE(got.solution.iterations, expected.iterations + 1) << wrong;
    EXPECT_GE(got.solution.replacements, expected.replacements) << wrong;
    EXPECT_LE(true_residual(usual, b, got.x), 1.01e-8) << wrong;
  }
}

TEST_F(Krylov, SStepsTakeTheIterationsOfCgForAnyS) {
  SparseSystem system = laplacian(16, 3);
  const std::vector<double> b = random_vector(system.n);
  const std::int64_t expected = solve_with(method("cg"), system, b, {.tolerance = 1e-10}).solution.iterations;
  for (const std::int64_t s : {1, 2, 3, 4, 6, 8}) {
    const Result1 got = solve_with(method("s_step"), system, b, {.tolerance = 1e-10, .parameters = {{"s", s}}});
    ASSERT_TRUE(got.status) << got.sentence();
    EXPECT_LE(true_residual(system, b, got.x), 1.01e-10);
    EXPECT_LE(got.solution.iterations, expected + s + expected / 10) << s;
  }
}

TEST_F(Krylov, ZeroRightHandSideTakesNoIteration) {
  SparseSystem system = laplacian(20, 1);
  const std::vector<double> b(20, 0.0);
  for (const Method& each : methods()) {
    std::vector<double> x = random_vector(20);
    SumsOfOne sums;
    Solution solution;
    ASSERT_TRUE(solve(each, system, sums, b, x, {}, solution));
    EXPECT_EQ(solution.iterations, 0);
    EXPECT_EQ(x, b);
  }
}

TEST_F(Krylov, AGoodInitialGuessTakesNoIteration) {
  SparseSystem system = laplacian(20, 1);
  std::vector<double> exact = random_vector(20), b(20);
  ASSERT_TRUE(system.multiply(exact.data(), b.data()));
  for (const Method& each : methods()) {
    std::vector<double> x = exact;
    SumsOfOne sums;
    Solution solution;
    ASSERT_TRUE(solve(each, system, sums, b, x, {}, solution));
    EXPECT_EQ(solution.iterations, 0);
    EXPECT_EQ(x, exact);
  }
}

TEST_F(Krylov, SaysWhatIsWrongWithTheSystem) {
  struct Wrong {
    const char* sentence;
    Ending ending;
    std::function<void(SparseSystem&, std::vector<double>&)> spoil;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const std::vector<Wrong> cases{
      {"the matrix is singular or not positive definite", Ending::indefinite_matrix,
       [](auto& a, auto&) {
         for (double& v : a.values) v = -v;
       }},
      {"the matrix is singular or not positive definite", Ending::indefinite_matrix,
       [](auto& a, auto&) { a.values[0] = -50; }},
      {"the matrix is singular or not positive definite", Ending::indefinite_matrix,
       [](auto& a, auto&) {
         for (double& v : a.values) v = 0;
       }},
      {"preconditioner must be positive definite", Ending::indefinite_preconditioner,
       [](auto& a, auto&) {
         for (double& v : a.diagonal) v = -v;
       }},
      {"is not a finite number", Ending::not_finite, [nan](auto& a, auto&) { a.values[5] = nan; }},
      {"is not a finite number", Ending::not_finite, [inf](auto& a, auto&) { a.values[5] = inf; }},
      {"is not a finite number", Ending::not_finite, [](auto& a, auto&) { a.diagonal[5] = 0; }},
      {"must not have a NaN", Ending::not_finite, [nan](auto&, auto& b) { b[3] = nan; }},
      {"1e-140 to 1e140", Ending::not_finite, [inf](auto&, auto& b) { b[3] = inf; }},
      {"1e-140 to 1e140", Ending::not_finite,
       [](auto&, auto& b) {
         for (double& v : b) v *= 1e-200;
       }},
      {"1e-140 to 1e140", Ending::not_finite,
       [](auto&, auto& b) {
         for (double& v : b) v *= 1e200;
       }},
  };
  for (const Wrong& wrong : cases)
    for (const Method& each : methods()) {
      SparseSystem system = laplacian(30, 1);
      std::vector<double> b = random_vector(30);
      wrong.spoil(system, b);
      const Result1 got = solve_with(each, system, b);
      ASSERT_FALSE(got.status) << each.name << ": " << wrong.sentence;
      EXPECT_NE(got.sentence().find(wrong.sentence), std::string::npos) << each.name << ": " << got.sentence();
      EXPECT_EQ(got.solution.ending, wrong.ending) << each.name << ": " << got.sentence();
    }
}

TEST_F(Krylov, EndsAtTheLimitOfIterations) {
  SparseSystem system = laplacian(300, 1);
  const std::vector<double> b = random_vector(300);
  for (const Method& each : methods()) {
    const Result1 got = solve_with(each, system, b, {.max_iterations = 10});
    EXPECT_EQ(got.solution.ending, Ending::iteration_limit) << each.name;
    EXPECT_NE(got.sentence().find("after 10 iterations"), std::string::npos) << got.sentence();
    EXPECT_NEAR(got.solution.residual, true_residual(system, b, got.x), 1e-12) << each.name;
  }
}

TEST_F(Krylov, SaysThatRoundingAllowsNoMore) {
  SparseSystem system = laplacian(100, 1);
  const std::vector<double> b = random_vector(100);
  for (const Method& each : methods()) {
    const Result1 got = solve_with(each, system, b, {.tolerance = 1e-17, .max_iterations = 50000, .patience = 1000});
    ASSERT_FALSE(got.status) << each.name;
    EXPECT_EQ(got.solution.ending, Ending::stagnation) << each.name << ": " << got.sentence();
  }
}

// A singular system with a right-hand side outside its range has no solution: no answer, and an end.
SparseSystem neumann() {
  SparseSystem system = laplacian(50, 1);
  system.values[0] = system.values.back() = 1; // at both ends
  return system;
}

TEST_F(Krylov, ARightHandSideOfTheNullSpaceShowsThatTheMatrixIsSingular) {
  SparseSystem system = neumann();
  const std::vector<double> b(50, 1.0);
  for (const Method& each : methods()) {
    const Result1 got = solve_with(each, system, b);
    ASSERT_FALSE(got.status) << each.name;
    EXPECT_EQ(got.solution.ending, Ending::indefinite_matrix) << each.name << ": " << got.sentence();
    EXPECT_NE(got.sentence().find("p.A p in iteration 1 must be above 0 (got 0)"), std::string::npos) << got.sentence();
    EXPECT_EQ(got.solution.iterations, 0) << each.name;
  }
}

// The residual falls to that of the null space. Then the solve ends within its patience, or earlier where rounding
// makes p.A p 0.
TEST_F(Krylov, SingularSystemsEndWithinThePatience) {
  SparseSystem system = neumann();
  constexpr std::int64_t patience = 500;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const std::vector<double> b = random_vector(50, seed);
    for (const Method& each : methods()) {
      const Result1 got = solve_with(each, system, b, {.max_iterations = 100 * patience, .patience = patience});
      ASSERT_FALSE(got.status) << each.name;
      const std::vector<double>& history = got.solution.history;
      const std::int64_t since_least = history.end() - std::min_element(history.begin(), history.end()) - 1;
      EXPECT_LE(since_least, patience + each.iterations_of_step()) << each.name << ": " << got.sentence();
      if (got.solution.ending == Ending::indefinite_matrix) {
        EXPECT_NE(got.sentence().find("p.A p"), std::string::npos) << each.name << ": " << got.sentence();
        continue;
      }
      EXPECT_EQ(got.solution.ending, Ending::stagnation) << each.name << ": " << got.sentence();
      EXPECT_NE(got.sentence().find("has not fallen for 501 iterations"), std::string::npos) << got.sentence();
    }
  }
}

TEST_F(Krylov, TheCallerStopsASolve) {
  SparseSystem system = laplacian(300, 1);
  const std::vector<double> b = random_vector(300);
  for (const Method& each : methods()) {
    SolverOptions options;
    std::int64_t calls = 0;
    options.progress = [&](const SolverProgress& p) { return ++calls, p.iteration < 5; };
    const Result1 got = solve_with(each, system, b, options);
    EXPECT_EQ(got.solution.ending, Ending::stopped) << each.name;
    EXPECT_GE(got.solution.iterations, 5);
    EXPECT_LE(got.solution.iterations, 6 + each.iterations_of_step());
  }
}

TEST_F(Krylov, AFailureOfTheSystemEndsTheSolve) {
  struct Broken : SparseSystem {
    Status multiply(double* x, double* y) override {
      if (products == 7) return failed("the halo exchange failed");
      return SparseSystem::multiply(x, y);
    }
  };
  for (const Method& each : methods()) {
    Broken system;
    static_cast<SparseSystem&>(system) = laplacian(300, 1);
    const Result1 got = solve_with(each, system, random_vector(300));
    EXPECT_EQ(got.sentence(), "the halo exchange failed") << each.name;
    EXPECT_EQ(got.solution.ending, Ending::system_failed);
  }
}

TEST_F(Krylov, SaysThatMemoryIsMissing) {
  struct Huge : SparseSystem {
    std::int64_t length() const override { return std::int64_t{1} << 55; }
  };
  for (const Method& each : methods()) {
    Huge system;
    static_cast<SparseSystem&>(system) = laplacian(10, 1);
    const Result1 got = solve_with(each, system, random_vector(10));
    EXPECT_NE(got.sentence().find("not enough memory"), std::string::npos) << got.sentence();
  }
}

TEST_F(Krylov, ChecksItsOptions) {
  SparseSystem system = laplacian(10, 1);
  const std::vector<double> b = random_vector(10);
  const std::vector<std::pair<SolverOptions, const char*>> cases{
      {{.tolerance = 0}, "tolerance"},
      {{.tolerance = std::numeric_limits<double>::quiet_NaN()}, "tolerance"},
      {{.max_iterations = 0}, "limit on iterations"},
      {{.replace_every = -1}, "residual replacements"},
      {{.largest_deviation = -1}, "largest deviation"},
      {{.patience = 0}, "patience"},
      {{.parameters = {{"colour", 1}}}, "takes no parameter"},
  };
  for (const auto& [options, word] : cases) {
    const Result1 got = solve_with(method("cg"), system, b, options);
    EXPECT_NE(got.sentence().find(word), std::string::npos) << got.sentence();
  }
  EXPECT_NE(solve_with(method("cg"), system, random_vector(9)).sentence().find("10 rows"), std::string::npos);
  EXPECT_NE(find_method("minres").error().sentence().find("chronopoulos_gear"), std::string::npos);
}

// A solve that is replaced by another one's state at the top of some iteration ends as that one does, to the last bit.
TEST_F(Krylov, AStateOfAnyIterationLeadsToTheSameBits) {
  SparseSystem system = laplacian(9, 3);
  const std::vector<double> b = random_vector(system.n);
  for (const Method& each : methods())
    for (const std::int64_t replace_every : {0, 7}) {
      SolverOptions options{.tolerance = 1e-11, .replace_every = replace_every};
      std::map<std::int64_t, std::vector<std::byte>> states;
      options.at_iteration = [&](std::int64_t iteration, const FillState& fill) -> Result<bool> {
        StateList list;
        fill(list);
        states.emplace(iteration, list.packed()); // the first of an iteration
        return false;
      };
      const Result1 whole = solve_with(each, system, b, options);
      ASSERT_TRUE(whole.status) << each.name << ": " << whole.sentence();
      ASSERT_GT(states.size(), 5U) << each.name;
      for (const auto& [saved, bytes] : states) {
        bool is_loaded = false;
        options.at_iteration = [&](std::int64_t, const FillState& fill) -> Result<bool> {
          if (is_loaded) return false;
          StateList list;
          fill(list);
          TRY(list.unpack(bytes));
          return is_loaded = true;
        };
        const Result1 restarted = solve_with(each, system, b, options);
        ASSERT_TRUE(restarted.status) << each.name << " from " << saved << ": " << restarted.sentence();
        ASSERT_EQ(restarted.x, whole.x) << each.name << " from " << saved;
        ASSERT_EQ(restarted.solution.history, whole.solution.history) << each.name << " from " << saved;
        ASSERT_EQ(restarted.solution.residual, whole.solution.residual) << each.name << " from " << saved;
        ASSERT_EQ(restarted.solution.replacements, whole.solution.replacements) << each.name << " from " << saved;
      }
    }
}

TEST_F(Krylov, AStateThatCannotBeSavedEndsTheSolve) {
  SparseSystem system = laplacian(9, 3);
  for (const Method& each : methods()) {
    SolverOptions options;
    options.at_iteration = [&](std::int64_t iteration, const FillState&) -> Result<bool> {
      if (iteration < 3) return false;
      return failed("the disk is full");
    };
    const Result1 got = solve_with(each, system, random_vector(system.n), options);
    EXPECT_EQ(got.sentence(), "the disk is full") << each.name;
  }
}

TEST_F(Krylov, SecondsAddUp) {
  SparseSystem system = laplacian(30, 3);
  for (const Method& each : methods()) {
    const Result1 got = solve_with(each, system, random_vector(system.n));
    const SolverSeconds& s = got.solution.seconds;
    const double parts = s.product + s.preconditioner + s.dots + s.updates + s.waiting;
    EXPECT_GT(s.product, 0);
    EXPECT_GT(s.preconditioner, 0);
    EXPECT_GT(s.updates, 0);
    EXPECT_GT(s.dots, 0);
    EXPECT_LE(parts, s.total * 1.001) << each.name;
    EXPECT_GT(parts, s.total * 0.5) << each.name;
  }
}

} // namespace
} // namespace kumihimo::krylov
