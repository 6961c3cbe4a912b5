// lu over ranks: P A = L U, HPL's residual and the golden pivots on many grids, and checks that find errors.
#include "lu_app/unequal_nodes.hpp"
#include "lu_runs.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace kumihimo::lu_app {
namespace {

TEST_F(LuOverRanks, FactorsOnEveryGridAreThoseOfTheMatrix) {
  std::mt19937_64 random(7);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  std::uint64_t seed = 1;
  for (const auto& [ranks, grid] :
       {std::pair{1, "1x1"}, {2, "1x2"}, {2, "2x1"}, {3, "3x1"}, {4, "2x2"}, {6, "2x3"}, {6, "3x2"}, {8, "2x4"}})
    for (const char* variant : {"rows", "tournament"})
      for (int round = 0; round < 4; ++round) {
        const std::int64_t n = draw(8, 90), block = draw(1, 24), lookahead = draw(0, 8);
        const Result<json> found = run(task_of(variant, n, {{"grid", grid}, {"seed", fmt::format("{}", seed)}},
                                               {{"block", block}, {"lookahead", lookahead}}),
                                       ranks, seed++);
        const std::string at = fmt::format("{} n {} block {} lookahead {} grid {}", variant, n, block, lookahead, grid);
        ASSERT_TRUE(found.ok()) << at << ": " << found.error().sentence();
        EXPECT_TRUE((*found)["checked"]["right"]) << at << (*found)["checked"];
        EXPECT_EQ((*found)["tables"][0]["rows"][0][8], "PASSED") << at;
      }
}

// HPL's, and others of the registry: a broadcast moves panels, and changes none.
TEST_F(LuOverRanks, EveryBroadcastHasTheBitsOfAChain) {
  std::vector<std::string> names(lu::hpl_broadcasts.begin(), lu::hpl_broadcasts.end());
  for (const char* other : {"binomial", "binomial_in_turn", "double_binary", "linear"}) names.emplace_back(other);
  for (const auto& [p, q, lookahead] : {std::tuple{1, 2, 1}, {1, 4, 0}, {2, 3, 1}, {1, 7, 3}}) {
    const Factored plain = factored(p, q, lookahead, LuVariant::Pivoting::rows);
    ASSERT_EQ(plain.lu.size(), std::size_t{157 * 157});
    for (const std::string& name : names)
      EXPECT_EQ(factored(p, q, lookahead, LuVariant::Pivoting::rows, {}, name).lu, plain.lu)
          << name << " on " << p << "x" << q << ", look-ahead " << lookahead;
  }
}

// Every column has the same updates in the same order.
TEST_F(LuOverRanks, EveryLookAheadHasTheBitsOfNone) {
  for (const auto pivoting : {LuVariant::Pivoting::rows, LuVariant::Pivoting::tournament})
    for (const auto& [p, q] : {std::pair{1, 1}, {1, 2}, {1, 5}, {3, 1}, {2, 2}, {2, 3}}) {
      const Factored plain = factored(p, q, 0, pivoting);
      ASSERT_EQ(plain.lu.size(), std::size_t{157 * 157});
      for (const int lookahead : {1, 2, 3, 5, 8}) {
        const Factored ahead = factored(p, q, lookahead, pivoting);
        EXPECT_EQ(ahead.pivots, plain.pivots) << p << "x" << q << " look-ahead " << lookahead;
        EXPECT_EQ(ahead.lu, plain.lu) << p << "x" << q << " look-ahead " << lookahead;
      }
    }
}

// A step's state has the panels that were started before it: of any look-ahead, the factors have the bits of a run that
// nobody stopped. 20 steps; the last state is that of the step that is a multiple of `every`.
TEST_F(LuOverRanks, AStateOfAnyStepGivesTheBitsOfTheWholeRun) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("kumihimo-lu-{}", getpid())).string();
  for (const auto pivoting : {LuVariant::Pivoting::rows, LuVariant::Pivoting::tournament})
    for (const auto& [p, q] : {std::pair{1, 1}, {1, 3}, {3, 1}, {2, 2}})
      for (const int lookahead : {0, 1, 3}) {
        const Factored whole = factored(p, q, lookahead, pivoting);
        const auto expect_whole = [&](const application::CheckpointOptions& options, const std::string& what) {
          const Factored found = factored(p, q, lookahead, pivoting, options);
          EXPECT_EQ(found.pivots, whole.pivots) << what << " " << p << "x" << q << " look-ahead " << lookahead;
          EXPECT_EQ(found.lu, whole.lu) << what << " " << p << "x" << q << " look-ahead " << lookahead;
        };
        for (const std::int64_t every : {1, 7, 16}) {
          std::filesystem::create_directory(folder);
          expect_whole({.every = every, .folder = folder}, "saved");
          expect_whole({.restart = folder}, fmt::format("restarted, every {}", every));
          std::filesystem::remove_all(folder);
        }
        if (p * q > 1)
          for (const std::int64_t at : {3, 11, 19})
            expect_whole({.partner = 2, .lost_rank = p * q - 1, .lost_at = at}, fmt::format("lost at {}", at));
      }
}

TEST_F(LuOverRanks, RanksMayOutnumberBlocks) {
  for (const char* variant : {"rows", "tournament"})
    for (const char* grid : {"2x4", "4x2", "8x1", "1x8"})
      for (const int lookahead : {1, 8}) {
        const Result<json> found =
            run(task_of(variant, 9, {{"grid", grid}}, {{"block", 5}, {"lookahead", lookahead}}), 8, 3);
        ASSERT_TRUE(found.ok()) << found.error().sentence();
        EXPECT_TRUE((*found)["checked"]["right"]) << grid << (*found)["checked"];
      }
}

TEST_F(LuOverRanks, EveryBroadcastBringsThePanel) {
  for (const char* broadcast : {"chain", "binomial", "binary", "double_binary", "linear", "trinaryx3"}) {
    const Result<json> found =
        run(task_of("rows", 40, {{"grid", "1x5"}, {"broadcast", broadcast}}, {{"block", 4}}), 5, 2);
    ASSERT_TRUE(found.ok()) << broadcast << found.error().sentence();
    EXPECT_TRUE((*found)["checked"]["right"]) << broadcast << (*found)["checked"];
  }
}

TEST_F(LuOverRanks, TheGoldenCopySolvesTheSameProblem) {
  const Result<json> golden = run(task_of("golden", 50, json::object()), 2);
  ASSERT_TRUE(golden.ok()) << golden.error().sentence();
  EXPECT_TRUE((*golden)["checked"]["right"]);
  const json& row = (*golden)["tables"][0]["rows"][0];
  EXPECT_EQ(json({row[2], row[3], row[4]}), json({"", "", ""})); // it has neither blocks nor a grid
}

// Entries of Wilkinson's matrix double at every column, whichever way the pivots are found.
TEST_F(LuOverRanks, GrowthIsReported) {
  for (const char* variant : {"rows", "tournament"}) {
    const Result<json> found = run(task_of(variant, 24, {{"matrix", "growing"}}, {{"block", 4}}), 2);
    ASSERT_TRUE(found.ok()) << found.error().sentence();
    EXPECT_EQ((*found)["growth"], std::ldexp(1.0, 23)) << variant;
  }
  const Result<json> random = run(task_of("rows", 64, json::object(), {{"block", 8}}), 4);
  ASSERT_TRUE(random.ok());
  EXPECT_LT((*random)["growth"], 20);
}

TEST_F(LuOverRanks, AWrongFactorPivotOrSolutionIsFound) {
  const auto [status, printed] = run_processes(4, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const LuProblem problem{.n = 30, .block = 4, .p = 2, .q = 2, .broadcast = "binomial"};
    LuRequest request;
    std::shared_ptr<const blas::Blas> blas = TRY(blas::Blas::open(with_blas(json::object()).value("blas", ""), "blas"));
    ProcessGrid grid = TRY(ProcessGrid::make(2, 2, false, *runtime));
    std::unique_ptr<LuFactorisation> factors = TRY(LuFactorisation::make(problem, request, grid, *blas));
    if (Status s = factors->accept_messages(processes); !s) return s;
    if (Status s = factors->factor(runtime->checkpoints()); !s) return s;
    std::vector<double> x = TRY(factors->solve());
    const lu::TestMatrix matrix(request.matrix, problem.n, request.seed);
    std::vector<double> lu = TRY(gathered(*factors, *runtime));
    std::vector<std::int64_t> pivots = factors->pivots();
    const auto check = [&] { return *check_factors(lu, pivots, matrix, request.pivoting, factors->rows()); };
    EXPECT_TRUE(check().passed()) << check().worst << " " << check().different_pivots;
    for (const std::size_t at : {std::size_t{3}, std::size_t{5 * 30 + 2}, lu.size() - 1}) {
      const double before = lu[at];
      lu[at] = before * (1 + 1e-8);
      EXPECT_FALSE(check().passed()) << at;
      lu[at] = std::nan("");
      EXPECT_FALSE(check().passed()) << at;
      lu[at] = before;
    }
    std::swap(pivots[3], pivots[4]);
    EXPECT_GT(check().different_pivots, 0);

    const auto residual = [&] {
      return lu::scaled_residual(*norms_of(x, problem, request, grid, processes), problem.n);
    };
    EXPECT_LT(residual(), lu::residual_threshold);
    x[7] *= 1 + 1e-10;
    EXPECT_GT(residual(), lu::residual_threshold);
    x[7] = std::nan("");
    EXPECT_FALSE(residual() < lu::residual_threshold);
    return Nothing{};
  });
  ASSERT_TRUE(status.ok()) << status.error().sentence();
}

TEST_F(LuOverRanks, ASingularMatrixIsOneSentenceOnAllRanks) {
  for (const char* variant : {"golden", "rows", "tournament"})
    for (const std::int32_t ranks : {1, 4}) {
      const Result<json> found = run(task_of(variant, 20, {{"matrix", "singular"}},
                                             variant == std::string("golden") ? json::object() : json{{"block", 3}}),
                                     ranks);
      ASSERT_FALSE(found.ok());
      EXPECT_EQ(found.error().sentence(), "the matrix is singular: column 10 has no pivot (got 0); use another matrix");
      EXPECT_EQ(found.error().kind, Error::Kind::failed);
    }
  for (const int lookahead : {0, 2, 3, 8})
    for (const char* grid : {"1x4", "2x2", "4x1"}) {
      const Result<json> found = run(
          task_of("rows", 20, {{"matrix", "singular"}, {"grid", grid}}, {{"block", 3}, {"lookahead", lookahead}}), 4);
      ASSERT_FALSE(found.ok());
      EXPECT_EQ(found.error().sentence(), "the matrix is singular: column 10 has no pivot (got 0); use another matrix")
          << grid << lookahead;
    }
  for (const auto& [ranks, grid] : {std::pair{1, "1x1"}, {2, "1x2"}, {5, "1x5"}, {2, "2x1"}, {4, "2x2"}, {6, "3x2"}}) {
    const Result<json> tasks =
        run(task_of("tasks", 20, {{"matrix", "singular"}, {"grid", grid}}, {{"block", 3}}), ranks);
    ASSERT_FALSE(tasks.ok());
    EXPECT_EQ(tasks.error().sentence(), "the matrix is singular: column 10 has no pivot (got 0); use another matrix")
        << grid;
  }
}

TEST_F(LuOverRanks, AnOverflowIsNoSingularMatrix) {
  const auto sentence = [](const char* variant, const char* grid, std::int32_t ranks, json parameters) {
    const Result<json> found =
        run(task_of(variant, 1030, {{"matrix", "growing"}, {"grid", grid}}, std::move(parameters)), ranks);
    return found ? "no error" : found.error().sentence();
  };
  constexpr const char* overflow = "the factors overflow: column 1029 of U grew beyond the largest double, 1.8e+308 "
                                   "(got inf); use fewer rows, or a matrix whose entries grow less";
  EXPECT_EQ(sentence("golden", "1x1", 1, json::object()), overflow);
  for (const auto& [ranks, grid] : {std::pair{1, "1x1"}, {2, "1x2"}, {4, "1x4"}})
    for (const char* variant : {"rows", "tournament", "tasks"})
      EXPECT_EQ(sentence(variant, grid, ranks, {{"block", 96}}), overflow) << variant << grid;
  EXPECT_EQ(sentence("rows", "2x2", 4, {{"block", 96}}), overflow); // a tournament over ranks has other pivots
}

TEST_F(LuOverRanks, AMatrixWithANanIsRefusedOnAllRanks) {
  for (const auto& [ranks, grid] : {std::pair{1, "1x1"}, {2, "2x1"}, {4, "2x2"}})
    for (const char* variant : {"golden", "rows", "tournament", "tasks"}) {
      const Result<json> found = run(task_of(variant, 20, {{"matrix", "nan"}, {"grid", grid}},
                                             variant == std::string("golden") ? json::object() : json{{"block", 3}}),
                                     ranks);
      ASSERT_FALSE(found.ok());
      EXPECT_EQ(found.error().sentence(), "column 10 of the matrix holds a NaN; use a matrix of finite numbers")
          << variant << grid;
    }
}

TEST_F(LuOverRanks, TheGoldenCopySaysWhatToDoAboutTooManyRows) {
  const Result<json> found = run(task_of("golden", 8193, json::object()), 1);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().sentence(),
            "the golden copy takes at most 8192 rows (got 8193); use a smaller --size, or --variant rows");
}

constexpr const char* first_lines =
    "title\ntitle\nHPL.out output file name\n6 device\n2 Ns\n30 41 Ns\n2 NBs\n4 8 NBs\n";

TEST_F(LuOverRanks, ReadsAListOfProblems) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "HPL.dat";
  const auto write = [&](std::string_view grid) {
    std::ofstream(path) << first_lines << "0 PMAP\n" << grid << "16.0 threshold\n";
  };
  write("1 grids\n1 Ps\n2 Qs\n");
  json task = task_of("rows", 1, {{"file", path.string()}});
  const Result<json> found = run(task, 2);
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_EQ((*found)["tables"][0]["rows"].size(), 4u);
  EXPECT_TRUE((*found)["checked"]["right"]);
  for (const auto& [options, parameters, name] :
       {std::tuple{json{{"file", path.string()}, {"grid", "1x2"}}, json::object(), "grid"},
        {json{{"file", path.string()}}, json{{"block", 32}}, "block"}}) {
    const Result<json> beside = run(task_of("rows", 1, options, parameters), 2);
    ASSERT_FALSE(beside.ok());
    EXPECT_TRUE(beside.error().sentence().starts_with(fmt::format("{} has no effect beside a file", name)));
  }
  write("2 grids\n1 2 Ps\n2 2 Qs\n");
  const Result<json> differ = run(task, 2);
  ASSERT_FALSE(differ.ok());
  EXPECT_EQ(differ.error().sentence(), path.string() + ":12: all grids must have as many ranks (got 1x2 and 2x2); keep "
                                                       "those of one number of ranks in a file");
  write("1 grids\n2 Ps\n2 Qs\n");
  const Result<json> more = run(task, 2);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().sentence(),
            path.string() + ":12: the grid P x Q must have as many ranks as the run, 2 (got 2x2); use --ranks 4");
}

// PMAP 1, lists of BCAST and DEPTH, and lines that change nothing.
TEST_F(LuOverRanks, ReadsWhatAFileSaysOfBroadcastsAndDepths) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "HPL-whole.dat";
  std::ofstream(path) << first_lines
                      << "1 PMAP\n1 grids\n2 Ps\n3 Qs\n16.0 threshold\n1 #\n2 PFACTs\n1 #\n4 NBMINs\n1 #\n"
                      << "2 NDIVs\n1 #\n1 RFACTs\n2 #\n4 1 BCASTs\n2 #\n0 2 DEPTHs\n2 SWAP\n64 threshold\n0 L1\n0 U\n"
                      << "1 Equilibration\n8 alignment\n";
  const Result<json> found = run(task_of("rows", 1, {{"file", path.string()}}), 6);
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_TRUE((*found)["checked"]["right"]);
  const json& rows = (*found)["tables"][0]["rows"];
  ASSERT_EQ(rows.size(), 16u) << "two sizes, blocks, depths and broadcasts";
  EXPECT_EQ(rows[0][0], "WC0-long-rows");
  EXPECT_EQ(rows[3][0], "WC2-chain_modified-rows");
  const std::string answer = (*found)["answer"].dump();
  EXPECT_NE(answer.find("line 17 of the file\",\"NBMIN 4 changes nothing: "), std::string::npos) << answer;
  EXPECT_NE(answer.find("line 31 of the file\",\"the memory alignment 8 changes nothing: "), std::string::npos);
  const Result<json> tasks = run(task_of("tasks", 1, {{"file", path.string()}}), 6);
  ASSERT_TRUE(tasks.ok()) << tasks.error().sentence();
  EXPECT_EQ((*tasks)["tables"][0]["rows"].size(), 8u) << "tasks take no depth";
  EXPECT_NE((*tasks)["answer"].dump().find("DEPTH 0 2 changes nothing"), std::string::npos);
  for (const auto& [options, parameters, name] :
       {std::tuple{json{{"file", path.string()}, {"broadcast", "linear"}}, json::object(), "broadcast"},
        {json{{"file", path.string()}}, json{{"lookahead", 3}}, "lookahead"}}) {
    const Result<json> beside = run(task_of("rows", 1, options, parameters), 6);
    ASSERT_FALSE(beside.ok());
    EXPECT_TRUE(beside.error().sentence().starts_with(fmt::format("{} has no effect beside a file that has", name)));
  }
}

// The ranks share one processor as device: its products are those of the update, whatever the split.
TEST_F(LuOverRanks, ADeviceTakesAPartOfTheUpdates) {
  std::uint64_t seed = 40;
  for (const auto& [ranks, grid] : {std::pair{1, "1x1"}, {2, "1x2"}, {4, "2x2"}, {3, "3x1"}})
    for (const char* variant : {"rows", "tournament"}) {
      const Result<json> found =
          run(task_of(variant, 300, {{"grid", grid}, {"device", "0"}}, {{"block", 16}}), ranks, seed++);
      ASSERT_TRUE(found.ok()) << found.error().sentence();
      EXPECT_TRUE((*found)["checked"]["right"]) << grid << (*found)["checked"];
      const double alpha = (*found)["facts"]["alpha of rank 0"];
      EXPECT_GT(alpha, 0);
      EXPECT_LT(alpha, 1);
      EXPECT_NE((*found)["answer"].dump().find(fmt::format("processor 0, shared by {} rank", ranks)),
                std::string::npos);
    }
}

TEST_F(LuOverRanks, FasterNodesHaveMoreRanks) {
  const json options = {{"speeds", "670,202"}, {"cores", "12"}, {"groups", "0/0"}};
  const Result<json> found = run(task_of("rows", 100, options, {{"block", 8}}), 5);
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_TRUE((*found)["checked"]["right"]);
  EXPECT_NE((*found)["answer"].dump().find("node 1: 670/202 = 3.32 + 0.68 = 4 processes of 12 cores; node 2: 202/202"),
            std::string::npos)
      << (*found)["answer"];
  const Result<json> fewer = run(task_of("rows", 100, options), 2);
  ASSERT_FALSE(fewer.ok());
  EXPECT_EQ(fewer.error().sentence(), "these speeds need 5 ranks, 4, 1 on the nodes (got 2); use --ranks 5");
}

TEST_F(LuOverRanks, SpeedsOfNodesAreMeasured) {
  const Result<json> found = run(task_of("rows", 60, {{"speeds", "auto"}, {"groups", "0/0"}}, {{"block", 8}}), 2);
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_NE((*found)["answer"].dump().find("measured by DGEMM, GFLOPS: node"), std::string::npos) << (*found)["answer"];
}

TEST(NodeLayout, RanksAreThoseOfTheRule) {
  const NodeWishes wishes{.speeds = {2, 1, 1}};
  const std::vector<std::int32_t> cores{4, 4, 4};
  const std::vector<std::int64_t> right{7, 7, 3, 9}, wrong{7, 3, 3, 9}, mixed{7, 3, 7, 9};
  EXPECT_EQ(layout_of(wishes, right, cores)->node_of_rank, (std::vector<std::int32_t>{0, 0, 1, 2}));
  EXPECT_EQ(layout_of(wishes, wrong, cores).error().sentence(),
            "these speeds need 2, 1, 1 ranks on the nodes (got 1, 2, 1); place the ranks so, or change speeds");
  EXPECT_EQ(layout_of(wishes, mixed, cores).error().sentence(),
            "ranks of a node must follow each other beside speeds (got node 1); place ranks in blocks");
  EXPECT_EQ(layout_of(wishes, right, std::vector<std::int32_t>{4, 4}).error().sentence(),
            "speeds must be those of the 2 nodes (got 3)");
  const NodeWishes groups{.groups = {{0}, {1}}};
  EXPECT_EQ(layout_of(groups, right, std::vector<std::int32_t>{1, 1})->node_of_rank,
            (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_FALSE(layout_of(groups, std::vector<std::int64_t>{0, 0, 0}, std::vector<std::int32_t>{1, 1}).ok());
}

TEST_F(LuOverRanks, WrongNodesAndDevicesAreOneSentence) {
  const auto said = [&](const json& options, std::int32_t ranks = 1, const char* variant = "rows") {
    const Result<json> found = run(task_of(variant, 30, options), ranks);
    return found ? std::string("right") : found.error().sentence();
  };
  for (const char* speeds : {"fast", "0", "-1", "2x", "0x3", "1.5x3", "2,", "1,,2", "9999999x1"})
    EXPECT_EQ(said({{"speeds", speeds}}),
              fmt::format("speeds must be auto, or those of the nodes such as 4x670,8x202 (got '{}')", speeds));
  EXPECT_EQ(said({{"groups", "0/a"}}), "processors must be numbers and ranges such as 0-3,8 (got 'a')");
  EXPECT_EQ(said({{"groups", "0/0"}}, 3),
            "the ranks must be a multiple of the 2 groups without their speeds (got 3); add --set speeds=LIST");
  EXPECT_EQ(said({{"cores", "4"}}), "cores has no effect without speeds (got 4); leave it out");
  EXPECT_EQ(said({{"device", "fast"}}), "processors must be numbers and ranges such as 0-3,8 (got 'fast')");
  EXPECT_EQ(said({{"device", "1000"}}, 2), "processors must be some that this process may use (got 1000); name others");
  EXPECT_EQ(said({{"device", "0"}}, 1, "golden"),
            "the golden copy takes no speeds, no groups and no device; use --variant rows");
  for (const char* variant : {"tasks", "tasks_static", "tasks_dynamic", "tasks_openmp"})
    EXPECT_EQ(said({{"device", "1"}}, 1, variant),
              fmt::format("{} takes no device (got 1); leave it out, or use --variant rows", variant));
}

TEST_F(LuOverRanks, WhatDoesNotFitIsRefused) {
  EXPECT_FALSE(run(task_of("rows", 0, json::object()), 1).ok());
  EXPECT_FALSE(run(task_of("rows", 3, {{"grid", "1x4"}}), 4).ok());
  EXPECT_FALSE(run(task_of("rows", 30, {{"grid", "2x3"}}), 4).ok());
  EXPECT_FALSE(run(task_of("rows", 30, {{"grid", "4"}}), 4).ok());
  for (const std::int32_t ranks : {1, 2}) EXPECT_FALSE(run(task_of("rows", 30, {{"broadcast", "none"}}), ranks).ok());
  EXPECT_FALSE(run(task_of("rows", 30, {{"seed", "x"}}), 1).ok());
  EXPECT_FALSE(run(task_of("rows", 30, {{"file", "/no/such"}}), 1).ok());
  EXPECT_FALSE(run(task_of("golden", 9000, json::object()), 1).ok());
  const Result<json> groups = run(task_of("rows", 30, {{"broadcast", "hierarchical"}}), 2);
  ASSERT_FALSE(groups.ok());
  EXPECT_EQ(
      groups.error().sentence(),
      "broadcast=hierarchical does not fit the 2 ranks of a row of the grid: the algorithm needs several nodes, but "
      "all ranks are in one; use another broadcast, such as chain");
  const Result<json> large = run(task_of("rows", 900'000, json::object()), 2);
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().sentence().find("GiB of a node's memory"), std::string::npos) << large.error().sentence();
}

} // namespace
} // namespace kumihimo::lu_app
