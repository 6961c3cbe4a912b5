// The methods on several ranks, which are threads with delays.
#include "krylov/solve.hpp"
#include "systems.hpp"

#include <gtest/gtest.h>
#include <omp.h>

namespace kumihimo::krylov {
namespace {

struct Outcome {
  std::vector<double> x;
  std::vector<Solution> solutions;
  std::vector<std::string> sentences;
  int touched = 0, overlaps = 0, blocking = 0;
};

// A rank whose product, preconditioner or memory fails at the nth use; 0: never.
struct Failing : PartSystem {
  using PartSystem::PartSystem;
  int product = 0, preconditioner = 0, allocation = 0;
  mutable int allocations = 0;
  std::int64_t length() const override {
    return ++allocations == allocation ? std::int64_t{1} << 55 : PartSystem::length();
  }
  Status multiply(double* x, double* y) override {
    const Status s = PartSystem::multiply(x, y); // with the other ranks
    return --product == 0 ? failed("the product failed") : s;
  }
  Status precondition(const double* r, double* z) override {
    return --preconditioner == 0 ? failed("the preconditioner failed") : PartSystem::precondition(r, z);
  }
};

Outcome solve_on(int ranks, const Method& method, const SparseSystem& whole, std::span<const double> b,
                 const std::function<void(int, SolverOptions&)>& prepare = {},
                 const std::function<void(int, Failing&)>& spoil = {}) {
  Team team(ranks);
  std::vector<double> exchange(static_cast<std::size_t>(whole.n));
  Outcome made;
  made.x.assign(b.size(), 0);
  made.solutions.resize(static_cast<std::size_t>(ranks));
  made.sentences.resize(static_cast<std::size_t>(ranks));
  std::mutex mutex;
  team.run([&](int rank) {
    omp_set_num_threads(1);
    Failing system(whole, team, exchange, rank);
    if (spoil) spoil(rank, system);
    TeamSums sums(team, rank);
    SolverOptions options{.tolerance = 1e-10};
    if (prepare) prepare(rank, options);
    const auto first = static_cast<std::size_t>(system.first), count = static_cast<std::size_t>(system.count);
    const Status status = solve(method, system, sums, b.subspan(first, count), std::span(made.x).subspan(first, count),
                                options, made.solutions[static_cast<std::size_t>(rank)]);
    const std::scoped_lock lock(mutex);
    if (!status) made.sentences[static_cast<std::size_t>(rank)] = status.error().sentence();
    made.touched += sums.touched;
    made.overlaps += sums.overlaps;
    made.blocking += sums.blocking;
  });
  return made;
}

TEST(KrylovRanks, SolveWithSumsThatTakeTime) {
  SparseSystem whole = laplacian(7, 3);
  const std::vector<double> b = random_vector(whole.n);
  for (const Method& each : methods())
    for (const int ranks : {1, 2, 3, 5}) {
      const Outcome got = solve_on(ranks, each, whole, b);
      EXPECT_EQ(got.sentences, std::vector<std::string>(static_cast<std::size_t>(ranks))) << each.name;
      EXPECT_LE(true_residual(whole, b, got.x), 1.01e-10) << each.name << " on " << ranks;
      EXPECT_EQ(got.touched, 0) << each.name << " touched values of a sum under way";
      for (const Solution& solution : got.solutions) EXPECT_EQ(solution.history, got.solutions[0].history);
    }
}

TEST(KrylovRanks, AnIterationHasTheSumsOfItsRow) {
  SparseSystem whole = laplacian(7, 3);
  const std::vector<double> b = random_vector(whole.n);
  for (const Method& each : methods()) {
    const Outcome got = solve_on(2, each, whole, b);
    if (each.iterations_of_step() > 1) { // after 20 iterations one sum each
      const std::int64_t steps = 20 + (got.solutions[0].iterations - 20) / each.iterations_of_step();
      EXPECT_LE(got.blocking / 2, steps + 3 + 3 * got.solutions[0].replacements);
      continue;
    }
    const std::int64_t n = got.solutions[0].iterations, replacements = got.solutions[0].replacements;
    const auto near = [&](std::int64_t sums, std::int64_t expected) {
      EXPECT_GE(sums, expected) << each.name;
      EXPECT_LE(sums, expected + 4 + 3 * replacements) << each.name;
    };
    near(got.overlaps / 2, n * each.overlapped);
    near(got.blocking / 2, n * (each.reductions - each.overlapped));
  }
}

TEST(KrylovRanks, MoreRanksThanRows) {
  SparseSystem whole = laplacian(3, 1);
  const std::vector<double> b = random_vector(3);
  for (const Method& each : methods()) {
    const Outcome got = solve_on(5, each, whole, b);
    EXPECT_LE(true_residual(whole, b, got.x), 1.01e-10) << each.name << " " << got.sentences[0];
  }
}

TEST(KrylovRanks, OneRankStopsAll) {
  SparseSystem whole = laplacian(7, 3);
  const std::vector<double> b = random_vector(whole.n);
  for (const Method& each : methods()) {
    const Outcome got = solve_on(3, each, whole, b, [](int rank, SolverOptions& options) {
      if (rank == 1) options.progress = [](const SolverProgress& p) { return p.iteration < 3; };
    });
    for (const Solution& solution : got.solutions) EXPECT_EQ(solution.ending, Ending::stopped) << each.name;
  }
}

// Rank 1 fails alone: it says why, and the others end too instead of waiting for it.
TEST(KrylovRanks, OneRankThatFailsEndsAll) {
  struct Case {
    std::string sentence;
    std::function<void(Failing&)> spoil;
    std::function<void(SolverOptions&)> ask = [](SolverOptions&) {};
  };
  std::vector<Case> cases;
  for (const int use : {1, 2, 7}) {
    cases.push_back({"the product failed", [use](Failing& system) { system.product = use; }});
    cases.push_back({"the preconditioner failed", [use](Failing& system) { system.preconditioner = use; }});
  }
  for (const int use : {1, 2, 3, 6}) // all methods have at least four vectors beside b and x
    cases.push_back({"not enough memory", [use](Failing& system) { system.allocation = use; }});
  cases.push_back(
      {"the tolerance must be above 0", [](Failing&) {}, [](SolverOptions& options) { options.tolerance = 0; }});
  cases.push_back({"takes no parameter", [](Failing&) {},
                   [](SolverOptions& options) {
                     options.parameters = {{"colour", 1}};
                   }});
  SparseSystem whole = laplacian(6, 3);
  const std::vector<double> b = random_vector(whole.n);
  for (const Case& each : cases)
    for (const Method& method : methods()) {
      const Outcome got = solve_on(
          3, method, whole, b, [&](int rank, SolverOptions& options) { rank == 1 ? each.ask(options) : void(); },
          [&](int rank, Failing& system) { rank == 1 ? each.spoil(system) : void(); });
      for (const Solution& solution : got.solutions)
        EXPECT_EQ(solution.ending, Ending::system_failed) << method.name << ": " << each.sentence;
      EXPECT_NE(got.sentences[1].find(each.sentence), std::string::npos) << method.name << ": " << got.sentences[1];
      for (const std::size_t other : {0u, 2u})
        EXPECT_EQ(got.sentences[other], "the solve ends because another rank failed") << method.name;
    }
}

} // namespace
} // namespace kumihimo::krylov
