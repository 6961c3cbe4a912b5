// Tasks: what is read, what is refused, and how candidates take turns.
#include "application/kernel_times.hpp"
#include "application/machine_rates.hpp"
#include "application/run_task.hpp"
#include "application/runtime.hpp"
#include "loopback/loopback_processes.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kumihimo::application {
namespace {

using nlohmann::json;

constexpr Parameter width{
    .name = "width", .meaning = "of a block", .symbol = "N", .min = 1, .max = 64, .tuning_values = {2, 4}};
constexpr TakenParameter taken[] = {{&width, 8}};
constexpr VariantDescription variants[] = {
    {"golden", "plain"}, {"blocked", "in blocks", taken}, {"unfit", "never fits"}};
constexpr std::string_view methods[] = {"direct", "other"};
constexpr std::string_view choices[] = {"left", "right"};
constexpr ApplicationOption options[] = {{"side", "which side", "SIDE", "left", choices},
                                         {"word", "any word", "WORD", "none"}};

// Sums the ranks, and answers what it was asked for.
Result<json> answer(const ApplicationRequest& request, Runtime& runtime) {
  if (request.candidate.variant->name == "unfit") return not_applicable("this variant fits nothing");
  if (request.candidate.parameters == ParameterValues{{"width", 13}}) return failed("this width fails");
  double one = 1;
  if (Status s = runtime.sums().sum({&one, 1}); !s) return s.error();
  runtime.progress(1, 0.5, request.tolerance);
  return json{{"seconds", 1.0}, {"ranks_found", one}, {"side", request.option("side")}, {"method", request.method}};
}

std::vector<Application> every() {
  return {{.name = "answers",
           .summary = "answers",
           .default_size = "4",
           .golden_hash = "abc",
           .variants = variants,
           .methods = methods,
           .options = options,
           .shared_set_up =
               [](const RequestedVariant& each) { return std::string(each.parameters.empty() ? "" : "width"); },
           .run = &answer}};
}

std::string error_of(const std::string& members) {
  const std::vector<Application> all = every();
  const Result<ApplicationTask> task = parse_task("{" + members + "}", all);
  return task ? "" : task.error().sentence();
}

const std::string start = R"("application": "answers", "candidates": [{"variant": "golden"}])";

TEST(ApplicationTask, IsReadWithItsDefaults) {
  const std::vector<Application> all = every();
  const Result<ApplicationTask> task = parse_task(
      R"({"application": "answers", "candidates": [{"variant": "blocked"}, {"variant": "blocked", "parameters": {"width": 3}}],
          "options": {"word": "x"}})",
      all);
  ASSERT_TRUE(task.ok()) << task.error().sentence();
  EXPECT_EQ(task->request.size, "4");
  EXPECT_EQ(task->request.method, "direct");
  EXPECT_EQ(task->request.option("side"), "left");
  EXPECT_EQ(task->request.option("word"), "x");
  EXPECT_EQ(task->candidates[0].parameters.at("width"), 8);
  EXPECT_EQ(task->candidates[1].parameters.at("width"), 3);
  EXPECT_EQ(*library_of_task("{}"), "");
  EXPECT_EQ(*library_of_task(R"({"library": "/lib/libmpi.so"})"), "/lib/libmpi.so");
}

TEST(ApplicationTask, EachMistakeIsOneSentence) {
  EXPECT_EQ(error_of(R"("application": "none", "candidates": [])"), "an application is one of answers (got 'none')");
  EXPECT_EQ(error_of(R"("application": "answers", "candidates": [{"variant": "fast"}])"),
            "a variant of answers is one of golden, blocked, unfit (got 'fast')");
  EXPECT_EQ(
      error_of(R"("application": "answers", "candidates": [{"variant": "blocked", "parameters": {"width": 65}}])"),
      "width must be at most 64 (got 65); leave width out for the default");
  EXPECT_NE(error_of(R"("application": "answers", "candidates": [{"variant": "golden", "parameters": {"width": 3}}])"),
            "");
  EXPECT_EQ(error_of(start + R"(, "options": {"side": "up"})"), "side must be one of left, right (got 'up')");
  EXPECT_EQ(error_of(start + R"(, "options": {"colour": "up"})"),
            "answers has no option colour; its options: side, word");
  EXPECT_EQ(error_of(start + R"(, "method": "x")"), "a method of answers is one of direct, other (got 'x')");
  EXPECT_EQ(error_of(start + R"(, "tolerance": 1)"), "the tolerance must be between 0 and 1 (got 1)");
  EXPECT_EQ(error_of(start + R"(, "turns": 0)"), "the number of runs must be at least 1 (got 0)");
  EXPECT_EQ(error_of(start + R"(, "most_iterations": 0)"), "the limit of iterations must be at least 1 (got 0)");
  EXPECT_EQ(error_of(R"("application": "answers", "candidates": [])"),
            "a variant is missing; name one of the application");
  EXPECT_FALSE(error_of(R"("application": 3)").empty());
  EXPECT_FALSE(error_of(start + R"(, "size": 3)").empty());
}

Result<std::vector<json>> run(std::int32_t ranks, const std::string& members) {
  const std::vector<Application> all = every();
  const ApplicationTask task = TRY(parse_task("{" + members + "}", all));
  auto [status, printed] =
      run_processes(ranks, false, 1, [&](Processes& processes) { return run_task(task, processes, "threads"); });
  if (!status) return status.error();
  return printed;
}

TEST(RunTask, CandidatesTakeTurns) {
  const std::string two =
      R"("application": "answers", "turns": 2, "method": "other", "candidates": [{"variant": "golden"}, {"variant": "unfit"}, {"variant": "blocked"}])";
  const auto printed = run(3, two);
  ASSERT_TRUE(printed.ok()) << printed.error().sentence();
  std::vector<std::string> order;
  for (const json& line : *printed)
    if (line.contains("result")) order.push_back(line["result"]["variant"].get<std::string>());
  EXPECT_EQ(order, (std::vector<std::string>{"golden", "unfit", "blocked", "golden", "blocked"}));
  EXPECT_EQ(printed->front()["about"]["ranks"], 3);
  EXPECT_EQ(printed->front()["about"]["sums"], "recursive_doubling");
  const json& last = printed->back()["result"];
  EXPECT_EQ(last["ranks_found"], 3.0);
  EXPECT_EQ(last["method"], "other");
  EXPECT_EQ(last["parameters"], json({{"width", 8}}));
  EXPECT_EQ(last["turn"], 1);
}

TEST(RunTask, CandidatesThatShareASetUpFollowEachOther) {
  const auto printed = run(
      1,
      R"("application": "answers", "turns": 2, "candidates": [{"variant": "blocked", "parameters": {"width": 3}}, {"variant": "golden"}, {"variant": "blocked", "parameters": {"width": 4}}])");
  ASSERT_TRUE(printed.ok()) << printed.error().sentence();
  std::vector<std::string> order;
  for (const json& line : *printed)
    if (line.contains("result"))
      order.push_back(line["result"]["variant"].get<std::string>() + line["result"]["parameters"].dump());
  const std::vector<std::string> turn = {"golden{}", R"(blocked{"width":3})", R"(blocked{"width":4})"};
  EXPECT_EQ(order, (std::vector<std::string>{turn[0], turn[1], turn[2], turn[0], turn[1], turn[2]}));
}

TEST(RunTask, AVariantThatFailsDoesNotEndTheOthers) {
  const auto printed = run(
      2,
      R"("application": "answers", "turns": 2, "candidates": [{"variant": "blocked", "parameters": {"width": 13}}, {"variant": "golden"}])");
  ASSERT_TRUE(printed.ok()) << printed.error().sentence();
  std::int64_t failures = 0, answers = 0;
  for (const json& line : *printed)
    if (line.contains("result")) {
      failures += line["result"].value("failed", false);
      answers += line["result"].contains("seconds");
    }
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(answers, 2);
}

TEST(RunTask, AVariantThatDoesNotFitAloneIsAnError) {
  const auto printed = run(2, R"("application": "answers", "candidates": [{"variant": "unfit"}])");
  ASSERT_FALSE(printed.ok());
  EXPECT_EQ(printed.error().kind, Error::Kind::not_applicable);
}

TEST(RunTask, TellsOfEachApplicationAllButItsFunctions) {
  const json told = to_json(every()[0]);
  EXPECT_EQ(told["variants"][1]["parameters"][0]["values"], json({8, 2, 4}));
  EXPECT_EQ(told["options"][0]["choices"], json({"left", "right"}));
  EXPECT_EQ(told["golden_hash"], "abc");
}

TEST(KernelTimes, AreThoseOfTheSlowestRankAndTheWorkOfAll) {
  const auto [status, printed] = run_processes(2, false, 1, [](Processes& processes) -> Status {
    KernelTimes times;
    const std::size_t kernel = times.declare("product", {100, 7});
    times.add(kernel, processes.rank() == 0 ? 1000 : 3000);
    times.add(kernel, 1000);
    processes.print(to_json(times, processes));
    return Nothing{};
  });
  ASSERT_TRUE(status.ok());
  const json& row = printed[0][0];
  EXPECT_DOUBLE_EQ(row["seconds"].get<double>(), 4e-6);
  EXPECT_EQ(row["calls"], 2);
  EXPECT_EQ(row["bytes"], 400.0);
  EXPECT_EQ(row["flops"], 28.0);
}

// The ranks of a node share its array, as many nodes as there are.
TEST(MachineRates, RanksOfANodeShareTheArray) {
  for (const std::int32_t ranks : {1, 3})
    EXPECT_TRUE(run_processes(ranks, false, 1, [ranks](Processes& processes) -> Status {
                  const std::int64_t each = array_bytes_of_rank(processes, 3000);
                  return each * ranks == 3000 ? Status(Nothing{}) : failed("the parts are wrong");
                }).first.ok());
}

TEST(MachineRates, ArePositive) {
  ASSERT_TRUE(threads::use(1).ok());
  OneProcess one;
  const Result<MachineRates> rates = measure_rates(one, 2 << 20);
  ASSERT_TRUE(rates.ok());
  EXPECT_GT(rates->triad_bytes_per_second, 1e7);
  EXPECT_GT(rates->peak_flops, 1e7);
}

} // namespace
} // namespace kumihimo::application
