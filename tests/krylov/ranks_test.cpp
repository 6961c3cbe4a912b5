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

Outcome solve_on(int ranks, const Method& method, const SparseSystem& whole, std::span<const double> b,
                 const std::function<void(int, Options&)>& prepare = {}) {
  Team team(ranks);
  std::vector<double> exchange(static_cast<std::size_t>(whole.n));
  Outcome made;
  made.x.assign(b.size(), 0);
  made.solutions.resize(static_cast<std::size_t>(ranks));
  made.sentences.resize(static_cast<std::size_t>(ranks));
  std::mutex mutex;
  team.run([&](int rank) {
    omp_set_num_threads(1);
    PartSystem system(whole, team, exchange, rank);
    TeamSums sums(team, rank);
    Options options{.tolerance = 1e-10};
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
    const Outcome got = solve_on(3, each, whole, b, [](int rank, Options& options) {
      if (rank == 1) options.progress = [](const Progress& p) { return p.iteration < 3; };
    });
    for (const Solution& solution : got.solutions) EXPECT_EQ(solution.ending, Ending::stopped) << each.name;
  }
}

} // namespace
} // namespace kumihimo::krylov
