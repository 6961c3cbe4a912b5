// lu by tasks: the pivots and bits of the sequential runs under every schedule and on any grid, and the timeline.
#include "lu_app/task_factorisation.hpp"
#include "lu_runs.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <random>

namespace kumihimo::lu_app {
namespace {

TEST_F(LuOverRanks, TasksHaveTheSequentialPivotsUnderEverySchedule) {
  for (const char* variant : {"tasks", "tasks_static", "tasks_dynamic", "tasks_openmp", "tasks_tbb"})
    for (const auto& [n, block] : {std::pair{1, 4}, {50, 8}, {131, 16}}) {
      const Result<json> found =
          run(task_of(variant, n, {{"noise", "100us/1ms"}, {"seed", "3"}}, {{"block", block}}), 1);
      if (!found) {
        EXPECT_EQ(found.error().sentence(),
                  "this build has no oneTBB; install it (Debian: libtbb-dev) and build again");
        continue;
      }
      const json& checked = (*found)["checked"];
      EXPECT_TRUE(checked["right"]) << variant << checked;
      EXPECT_EQ(checked["different_pivots"], 0) << variant;
      const json& timeline = (*found)["timeline"];
      EXPECT_EQ(timeline["events"].size(), timeline["tasks"].size());
      EXPECT_EQ(timeline["kind_of_task"].size(), timeline["tasks"].size());
    }
}

// Every rank has whole columns; panels come by messages beside tasks.
TEST_F(LuOverRanks, TasksOfSeveralRanksHaveTheSequentialPivots) {
  std::uint64_t seed = 20;
  for (const char* variant : {"tasks", "tasks_static", "tasks_dynamic"})
    for (const std::int32_t ranks : {2, 3, 5})
      for (const auto& [n, block] : {std::pair{5, 5}, {9, 2}, {50, 8}, {96, 8}, {131, 16}, {131, 3}})
        for (const char* broadcast : {"chain", "long"}) {
          if (n < ranks) continue;
          const json options = {{"noise", "100us/1ms"}, {"seed", "3"}, {"broadcast", broadcast}};
          const Result<json> found = run(task_of(variant, n, options, {{"block", block}}), ranks, seed++);
          const std::string at = fmt::format("{} on {} ranks, {} rows in blocks of {}", variant, ranks, n, block);
          ASSERT_TRUE(found.ok()) << at << found.error().sentence();
          const json& checked = (*found)["checked"];
          EXPECT_TRUE(checked["right"]) << at << checked;
          EXPECT_EQ(checked["different_pivots"], 0) << at;
          EXPECT_EQ((*found)["facts"]["grid of ranks"], fmt::format("1x{}", ranks));
        }
}

// Rows that cross ranks come by messages, too.
TEST_F(LuOverRanks, TasksOnAnyGridHaveTheGoldenPivots) {
  std::mt19937_64 random(11);
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  };
  const std::string_view no_tbb = "this build has no oneTBB; install it (Debian: libtbb-dev) and build again";
  for (const char* variant : {"tasks", "tasks_static", "tasks_dynamic", "tasks_openmp", "tasks_tbb"})
    for (int round = 0; round < 8; ++round) {
      const std::int64_t p = draw(1, 4), q = draw(1, 8 / p), n = draw(std::max(p, q), 90), block = draw(1, 24);
      const json options = {{"grid", fmt::format("{}x{}", p, q)},
                            {"noise", "100us/1ms"},
                            {"seed", fmt::format("{}", round)},
                            {"broadcast", round % 2 == 0 ? "chain" : "binomial"}};
      const Result<json> found =
          run(task_of(variant, n, options, {{"block", block}}), static_cast<std::int32_t>(p * q), random());
      const std::string at = fmt::format("{} on {}x{}, {} rows in blocks of {}", variant, p, q, n, block);
      if (!found && found.error().sentence() == no_tbb) continue;
      ASSERT_TRUE(found.ok()) << at << ": " << found.error().sentence();
      EXPECT_TRUE((*found)["checked"]["right"]) << at << (*found)["checked"];
      EXPECT_EQ((*found)["checked"]["different_pivots"], 0) << at;
    }
}

// More rows than a leaf of the tournament on each rank.
TEST_F(LuOverRanks, TasksOnAGridMatchTheLeavesOfARank) {
  const Result<json> found = run(task_of("tasks", 2100, {{"grid", "2x1"}}, {{"block", 128}}), 2);
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_TRUE((*found)["checked"]["right"]) << (*found)["checked"];
  EXPECT_NE((*found)["timeline"]["tasks"].dump().find("match of panel 0, rows 0 and 1"), std::string::npos);
}

// The factors and pivots by tasks, on rank 0.
Factored factored_by_tasks(std::int32_t p, std::int32_t q, int threads, double static_share) {
  Factored found;
  const auto [status, printed] = run_processes(p * q, false, 5, [&](Processes& processes) -> Status {
    const threads::TeamSize team(threads);
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const LuProblem problem{.n = 157, .block = 8, .p = p, .q = q};
    LuRequest request;
    request.pivoting = LuVariant::Pivoting::tiles;
    request.split = {static_share, 2, 1};
    std::shared_ptr<const blas::Blas> blas = TRY(blas::Blas::open(with_blas(json::object()).value("blas", ""), "blas"));
    ProcessGrid grid = TRY(ProcessGrid::make(p, q, false, *runtime));
    std::unique_ptr<LuFactorisation> factors = TRY(LuFactorisation::make(problem, request, grid, *blas));
    if (Status s = factors->accept_messages(processes); !s) return s;
    (void)TRY(factor_by_tasks(*factors, problem, request, *blas, processes));
    std::vector<double> lu = TRY(gathered(*factors, *runtime));
    if (processes.rank() == 0) found = {std::move(lu), factors->pivots()};
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  return found;
}

// Where a rank has no more rows than a leaf, the tree is that of the variant without tasks.
TEST_F(LuOverRanks, TasksHaveTheBitsOfTheTournamentOnItsGrid) {
  for (const auto& [p, q] : {std::pair{1, 1}, {2, 1}, {3, 1}, {2, 2}, {3, 2}}) {
    const Factored plain = factored(p, q, 1, LuVariant::Pivoting::tournament);
    ASSERT_EQ(plain.lu.size(), std::size_t{157 * 157});
    for (const auto& [threads, share] : {std::pair{1, 0.0}, {2, 0.6}, {1, 1.0}}) {
      const Factored found = factored_by_tasks(p, q, threads, share);
      EXPECT_EQ(found.pivots, plain.pivots) << p << "x" << q << ", " << threads << " threads";
      EXPECT_EQ(found.lu, plain.lu) << p << "x" << q << ", " << threads << " threads, share " << share;
    }
  }
}

TEST_F(LuOverRanks, TasksHaveTheBitsOfOneRankOnAnyNumber) {
  const Factored alone = factored_by_tasks(1, 1, 1, 0);
  ASSERT_EQ(alone.lu.size(), std::size_t{157 * 157});
  for (const std::int32_t ranks : {1, 2, 3, 4})
    for (const int threads : {1, 2})
      for (const double share : {0.0, 0.6, 1.0}) {
        const Factored found = factored_by_tasks(1, ranks, threads, share);
        EXPECT_EQ(found.pivots, alone.pivots) << ranks << " ranks, " << threads << " threads";
        EXPECT_EQ(found.lu, alone.lu) << ranks << " ranks, " << threads << " threads, share " << share;
      }
}

TEST_F(LuOverRanks, ATimelineHasTheThreadsOfAllRanks) {
  for (const auto& [ranks, grid, kinds] : {std::tuple{3, "1x3", 6u}, {4, "2x2", 9u}, {2, "2x1", 9u}}) {
    const Result<json> found =
        run(task_of("tasks", 60, {{"noise", "100us/1ms"}, {"grid", grid}}, {{"block", 8}}), ranks);
    ASSERT_TRUE(found.ok()) << found.error().sentence();
    const json& timeline = (*found)["timeline"];
    const std::size_t tasks = timeline["tasks"].size();
    EXPECT_EQ(timeline["lanes"].size(), timeline["threads"]);
    EXPECT_EQ(timeline["lanes"][0], "rank 0, thread 0");
    EXPECT_EQ(timeline["kind_of_task"].size(), tasks);
    std::vector<int> runs(tasks);
    for (const json& event : timeline["events"]) {
      ++runs[event[1].get<std::size_t>()];
      EXPECT_LT(event[0], timeline["threads"]);
      EXPECT_LT(event[5].get<int>(), static_cast<int>(tasks));
    }
    for (std::size_t task = 0; task < tasks; ++task) {
      const std::string kind = timeline["kinds"][timeline["kind_of_task"][task].get<std::size_t>()];
      const bool is_message = kind == "message" || kind == "tournament" || kind == "exchange";
      EXPECT_EQ(runs[task], is_message ? 0 : 1) << timeline["tasks"][task];
    }
    EXPECT_EQ(timeline["kinds"].size(), kinds);
  }
}

TEST_F(LuOverRanks, NoiseIsOfTasks) {
  const Result<json> noise = run(task_of("rows", 40, {{"noise", "1ms/10ms"}}), 1);
  ASSERT_FALSE(noise.ok());
  EXPECT_EQ(noise.error().sentence(), "rows takes no noise; leave it out, or use --variant tasks");
  EXPECT_FALSE(run(task_of("tasks", 40, {{"noise", "10ms"}}), 1).ok());
}

} // namespace
} // namespace kumihimo::lu_app
