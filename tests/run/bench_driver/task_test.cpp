// Tasks as JSON: what is understood, and that each mistake is one sentence.
#include "bench_driver/task.hpp"

#include <gtest/gtest.h>

namespace kumihimo::bench_driver {
namespace {

std::string sentence(const std::string& text, std::int32_t ranks = 4) {
  const Result<BenchTask> task = parse_task(text, ranks);
  return task ? "" : task.error().sentence();
}

std::string task_with(const std::string& members) {
  return R"({"task": "check", "library": "/lib/libmpi.so", "cases": [{)" + members + "}]}";
}

TEST(BenchTask, IsReadWithItsDefaults) {
  const Result<BenchTask> task = parse_task(
      task_with(R"("algorithm": "ring", "count": 10, "parameters": {"window": 3, "trees": null}, "root": 2)"), 4);
  ASSERT_TRUE(task.ok());
  ASSERT_EQ(task->cases.size(), 1u);
  const TaskCase& c = task->cases[0];
  EXPECT_EQ(c.algorithm, "ring");
  EXPECT_EQ(c.collective.counts.each, 10);
  EXPECT_EQ(c.collective.ranks, 4);
  EXPECT_EQ(c.collective.type, DataType::float64);
  EXPECT_EQ(c.parameters.window, 3);
  EXPECT_FALSE(c.parameters.trees.has_value());
  EXPECT_EQ(c.space.name(), RankSpace::node(4).name());
  EXPECT_EQ(*library_of_task(task_with("")), "/lib/libmpi.so");
}

TEST(BenchTask, ShapesAndEmulatedNodesAgreeWithTheRanks) {
  EXPECT_EQ(parse_task(task_with(R"("shape": "2x2")"), 4)->cases[0].space.shape().text(), "2x2");
  EXPECT_EQ(parse_task(task_with(R"("shape": "2", "ranks_per_node": 2)"), 4)->cases[0].space.ranks_per_node(), 2);
  EXPECT_EQ(parse_task(task_with(R"("ranks_per_node": 3)"), 4)->cases[0].space.node_sizes().size(), 2u);
  EXPECT_EQ(parse_task(task_with(R"("shape": "none")"), 4)->cases[0].space.has_shape(), false);
  EXPECT_NE(sentence(task_with(R"("shape": "2x2", "ranks_per_node": 2)")).find("as there are nodes (2)"),
            std::string::npos);
  EXPECT_NE(sentence(task_with(R"("shape": "3x2")")).find("3x2 with 6"), std::string::npos);
}

TEST(BenchTask, EmulatedNodesMayBeListed) {
  const auto read = [](const std::string& members) { return parse_task(task_with(members), 4); };
  const Result<BenchTask> listed = read(R"("ranks_per_node": [1, 3])");
  EXPECT_TRUE(listed->cases[0].emulates);
  EXPECT_EQ(listed->cases[0].node_sizes, (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(listed->cases[0].space.name(), "row of 4 ranks, 1 to 3 a node");
  EXPECT_EQ(read(R"("ranks_per_node": [1, 3], "shape": "2")")->cases[0].space.node_sizes().size(), 2u);
  EXPECT_EQ(read(R"("ranks_per_node": [2, 2], "shape": "2")")->cases[0].space.name(), "torus 2, 2 ranks a node");
  EXPECT_EQ(read(R"("ranks_per_node": 3, "shape": "2")")->cases[0].space.node_sizes().size(), 2u) << "the rest";
  EXPECT_EQ(read(R"("ranks_per_node": [1, 2])").error().sentence(), "the nodes must have 4 ranks together (got 3)");
  EXPECT_EQ(read(R"("ranks_per_node": [4, 0])").error().sentence(), "a node has at least 1 rank (got 0)");
  EXPECT_FALSE(read(R"("ranks_per_node": ["two", 2])").ok());
  EXPECT_FALSE(read("")->cases[0].emulates);
}

TEST(BenchTask, RealNodesAreSeenWhereNoneAreEmulated) {
  const Nodes two{{"a", "b"}, {0, 0, 1, 1}}, unlike{{"a", "b"}, {0, 0, 0, 1}};
  const auto read = [](const std::string& members, const Nodes& nodes) {
    return parse_task(task_with(members), 4, nodes);
  };
  const TaskCase c = read("", two)->cases[0];
  EXPECT_EQ(c.space.name(), "mesh 2m, 2 ranks a node");
  EXPECT_EQ(c.node_sizes, (std::vector<std::int32_t>{2, 2}));
  EXPECT_EQ(read("", unlike)->cases[0].node_sizes, (std::vector<std::int32_t>{3, 1}));
  EXPECT_EQ(read(R"("shape": "none")", two)->cases[0].space.name(), "row of 4 ranks");
  EXPECT_EQ(read(R"("shape": "none")", two)->cases[0].node_sizes.size(), 2u) << "they are there nevertheless";
  EXPECT_EQ(read(R"("ranks_per_node": 1)", two)->cases[0].node_sizes.size(), 4u) << "emulated on both";
  EXPECT_EQ(read(R"("ranks_per_node": 3)", two).error().sentence(),
            "all ranks of an emulated node must run on one real node (got ranks 0 and 2 run on two); leave "
            "--ranks-per-node out");
}

// Rank r is process process_of_rank[r]; the first processes are on the first emulated node.
TEST(BenchTask, RanksMayBeInAnotherOrderThanTheProcesses) {
  const auto read = [](const std::string& order, const std::string& members) {
    std::string text = task_with(members);
    return parse_task(text.insert(1, "\"process_of_rank\": " + order + ", "), 4);
  };
  const BenchTask task = *read("[0, 2, 1, 3]", R"("ranks_per_node": 2)");
  EXPECT_EQ(task.process_of_rank, (std::vector<std::int32_t>{0, 2, 1, 3}));
  EXPECT_EQ(task.cases[0].node_of_rank, (std::vector<std::int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(task.cases[0].space.nodes(), (std::vector<std::vector<Rank>>{{Rank{0}, Rank{2}}, {Rank{1}, Rank{3}}}));
  EXPECT_FALSE(task.cases[0].space.row_major());
  EXPECT_EQ(read("[0, 1, 2, 3]", R"("ranks_per_node": 2)")->cases[0].space.name(), "mesh 2m, 2 ranks a node");
  const BenchTask shaped = *read("[0, 3, 2, 1]", R"("shape": "2x2")");
  EXPECT_EQ(shaped.cases[0].space.rank_at(1), Rank{3});
  for (const char* order : {"[0, 1, 2]", "[0, 1, 2, 2]", "[0, 1, 2, 4]", "[-1, 0, 1, 2]", "[0, 1, 2, 3, 4]", "5"})
    EXPECT_FALSE(read(order, "").ok()) << order;
}

TEST(BenchTask, IsOfEveryCollective) {
  for (const char* kind : {"barrier", "bcast", "reduce", "allreduce", "scan", "exscan", "gather", "scatter",
                           "allgather", "reduce_scatter", "alltoall"})
    EXPECT_EQ(sentence(task_with(std::string(R"("count": 3, "collective": ")") + kind + '"')), "") << kind;
}

TEST(BenchTask, MistakesAreSentences) {
  for (const char* text : {"", "[]", "{", R"({"task": "dance"})", R"({"task": "check", "cases": 3})",
                           R"({"task": "check", "cases": [3]})"})
    EXPECT_NE(sentence(text), "") << text;
  for (const char* members :
       {R"("type": "quad")", R"("operation": "avg")", R"("collective": "dance")", R"("shape": "x")",
        R"("count": "many")", R"("ranks_per_node": -1)", R"("operation": "user")"})
    EXPECT_NE(sentence(task_with(members)), "") << members;
  EXPECT_FALSE(library_of_task(R"({"task": "check"})").ok());
}

TEST(BenchTask, OfACalibrationInParts) {
  const Result<BenchTask> task = parse_task(
      R"({"task": "calibrate", "parts": ["library", "noise"], "noise_seconds": 2, "quantum_seconds": 1e-4})", 2);
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->parts, (std::vector<std::string>{"library", "noise"}));
  EXPECT_EQ(task->noise_seconds, 2);
  EXPECT_EQ(task->quantum_seconds, 1e-4);
  for (const char* wrong :
       {R"("parts": ["dance"])", R"("quantum_seconds": 1e-9)", R"("noise_seconds": 1e-4)", R"("noise_seconds": 1e9)"})
    EXPECT_NE(sentence(std::string(R"({"task": "calibrate", )") + wrong + "}"), "") << wrong;
}

TEST(BenchTask, OfTheLibrarysOwnCalls) {
  const Result<BenchTask> task = parse_task(
      R"({"task": "library", "library_calls": [{"count": 3, "calls": ["allreduce", "2 bcast"]}], "measures": false,
          "controls": {"A_VARIABLE": 2}})",
      4);
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->kind, BenchTask::Kind::library);
  ASSERT_EQ(task->library_calls.size(), 1u);
  EXPECT_EQ(task->library_calls[0].count, 3);
  EXPECT_EQ(task->library_calls[0].calls, (std::vector<std::string>{"allreduce", "2 bcast"}));
  EXPECT_FALSE(task->measures);
  EXPECT_EQ(task->controls.at("A_VARIABLE"), 2);
  EXPECT_TRUE(task->cases.empty());
  for (const char* library_calls :
       {R"([{"count": 0}])", R"([{"calls": ["barrier"]}])", R"([{"calls": "bcast"}])", "[3]"})
    EXPECT_NE(sentence(std::string(R"({"task": "library", "library_calls": )") + library_calls + "}"), "")
        << library_calls;
}

} // namespace
} // namespace kumihimo::bench_driver
