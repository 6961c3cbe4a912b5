// Kernels as the second instance of a problem: their keys and trials, and wisdom that decides what executors run.
#include "plan/kernels/problems.hpp"
#include "plan/kernels/wisdom.hpp"
#include "problem/tuner.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

namespace kumihimo::plan {
namespace {

using nlohmann::json;

const problem::Fingerprint machine{"Xeon", 2};

json kernel_file(json choices) {
  return {
      {"kumihimo_wisdom", 1}, {"machine", {{"processor", "Xeon"}, {"processors", 2}}}, {"choices", std::move(choices)}};
}
json reduce(const char* operation, const char* type, const char* variant) {
  return {{"kernel", "reduce"}, {"operation", operation}, {"type", type}, {"variant", variant}};
}
json copy(const char* reader, const char* variant) {
  return {{"kernel", "copy"}, {"reader", reader}, {"variant", variant}};
}
json in_range(json entry, std::int64_t from, std::int64_t to) {
  entry["from_bytes"] = from, entry["to_bytes"] = to;
  return entry;
}
Result<KernelWisdom> parsed_kernels(json choices) {
  return parse_kernel_wisdom(kernel_file(std::move(choices)).dump(), machine);
}
std::string kernel_complaint(json choices) {
  const Result<KernelWisdom> wisdom = parsed_kernels(std::move(choices));
  return wisdom ? "none" : wisdom.error().sentence();
}

TEST(KernelProblems, EveryApplicablePairIsInOneClass) {
  std::multiset<std::pair<Operation, DataType>> members;
  for (const ReduceClass& each : reduce_classes()) members.insert(each.members.begin(), each.members.end());
  for (const Operation op : builtin_operations)
    for (const DataType type : builtin_datatypes)
      EXPECT_EQ(members.count({op, type}), is_applicable(type, op) ? 1u : 0u) << name_of(op) << " " << name_of(type);
}

TEST(KernelProblems, VariantsAreRightAndRunInTrials) {
  for (const problem::Key& key : kernel_keys()) {
    const problem::Problem& problem = *find_kernel(key[0].second);
    const auto variants = problem.variants(key);
    EXPECT_EQ(variants.front().name, "plain");
    if (key.back().second != "int16" && key.back().second != "other core") continue; // the others are like them
    const Result<problem::Decision> decision =
        problem::Tuner(problem).decide(key, 4096, {.seconds = 0, .sample_seconds = 1e-6});
    if (!decision) {
      EXPECT_EQ(decision.error().kind, Error::Kind::not_applicable) << decision.error().sentence();
      continue;
    }
    std::size_t candidates = 0;
    for (const VariantDescription& each : variants) candidates += problem::candidates_of(each).size();
    EXPECT_EQ(decision->tried.size(), candidates);
    EXPECT_GT(decision->bound_seconds, 0);
    for (const problem::Tried& each : decision->tried) {
      EXPECT_EQ(each.refused, "") << each.candidate.text();
      EXPECT_GT(each.seconds.median, 0) << each.candidate.text();
    }
  }
}

TEST(KernelWisdom, DecidesWhichVariantRuns) {
  const Result<KernelWisdom> wisdom = parsed_kernels({in_range(reduce("minmax", "int32", "baseline"), 1000, 1999),
                                                      in_range(reduce("minmax", "int32", "plain"), 1500, 3000),
                                                      copy("other core", "plain"),
                                                      {{"collective", "allreduce"}, {"algorithm", "passed over"}}});
  ASSERT_TRUE(wisdom) << wisdom.error().sentence();
  EXPECT_EQ(wisdom->size, 3);
  kernels::Selection choices = wisdom->choices, untuned = kernels::untuned();
  for (const DataType type : {DataType::int32, DataType::uint32})
    for (const Operation op : {Operation::min, Operation::max}) {
      EXPECT_EQ(choices.of(type, op).at(999), untuned.of(type, op).at(999));
      EXPECT_EQ(choices.of(type, op).at(1000)->name, "baseline");
      EXPECT_EQ(choices.of(type, op).at(1999)->name, "baseline") << "the first that fits";
      EXPECT_EQ(choices.of(type, op).at(2000)->name, "plain");
      EXPECT_EQ(choices.of(type, op).at(3001), untuned.of(type, op).at(3001));
    }
  EXPECT_EQ(choices.of(DataType::int32, Operation::sum).at(1000), untuned.of(DataType::int32, Operation::sum).at(1000));
  EXPECT_EQ(choices.of(kernels::CopyReader::other_core).at(1 << 20).variant->name, "plain");
}

#if defined(__x86_64__)
TEST(KernelWisdom, HasTheParametersOfItsVariants) {
  json far = copy("same core", "streaming");
  far["parameters"] = {{"prefetch", 4096}};
  Result<KernelWisdom> wisdom = parsed_kernels({far});
  ASSERT_TRUE(wisdom) << wisdom.error().sentence();
  const kernels::CopyChoice chosen = wisdom->choices.of(kernels::CopyReader::same_core).at(1 << 20);
  EXPECT_EQ(chosen.parameters, (ParameterValues{{"prefetch", 4096}}));
  kernels::use(wisdom->choices);
  const kernels::CopyPlan plan = kernels::copy_plan(kernels::CopyReader::same_core);
  kernels::use_untuned();
  EXPECT_EQ(plan.longer[1].kernel, chosen.kernel());
  EXPECT_NE(chosen.kernel(), kernels::CopyChoice(chosen.variant).kernel());

  far["parameters"] = {{"prefetch", 100}};
  EXPECT_NE(kernel_complaint({far}).find("choice 1: prefetch must be one of 0, 1024, 4096 (got 100)"),
            std::string::npos)
      << kernel_complaint({far});
  far["parameters"] = {{"prefetch", "far"}};
  EXPECT_NE(kernel_complaint({far}).find("(got \"far\")"), std::string::npos) << kernel_complaint({far});
}
#endif

TEST(KernelWisdom, IsFoundByTheExecutors) {
  const Result<KernelWisdom> wisdom = parsed_kernels({reduce("sum", "float64", "plain")});
  ASSERT_TRUE(wisdom);
  kernels::use(wisdom->choices);
  const kernels::ReducePlan plan = kernels::reduce_plan(DataType::float64, Operation::sum);
  kernels::use_untuned();
  EXPECT_EQ(plan.kernel, kernels::reduce_plain(DataType::float64, Operation::sum));
}

TEST(KernelWisdom, AWrongEntryIsNamed) {
  const json good = reduce("sum", "float64", "plain");
  json with_parameters = good;
  with_parameters["parameters"] = {{"unroll", 4}};
  const std::pair<json, std::string> wrong[] = {
      {reduce("sum", "float64", "quantum"), "the variant must be one that runs here (plain, baseline"},
      {reduce("sum", "float64", "quantum"), "(got 'quantum'); tune again"},
      {reduce("minmax", "float16", "plain"), "choice 2: the operation must apply to the type (got minmax of float16)"},
      {reduce("bitwise", "float64", "plain"), "got bitwise of float64"},
      {copy("nobody", "plain"), "choice 2: reader must be 'same core' or 'other core' (got 'nobody')"},
      {{{"kernel", "sort"}, {"variant", "plain"}}, "choice 2: kernel must be copy or reduce (got 'sort')"},
      {{{"variant", "plain"}}, "choice 2: kernel is missing"},
      {in_range(good, 9, 8), "choice 2: from_bytes must be at most to_bytes"},
      {with_parameters, "choice 2: plain has no parameter unroll; leave it out"}};
  for (const auto& [entry, part] : wrong)
    EXPECT_NE(kernel_complaint({good, entry}).find(part), std::string::npos) << kernel_complaint({good, entry});
  EXPECT_EQ(kernel_complaint({good}), "none");
}

TEST(KernelWisdom, OfAnotherMachineAndCorruptFilesAreRefused) {
  const std::string text = kernel_file({reduce("sum", "float64", "plain")}).dump();
  EXPECT_FALSE(parse_kernel_wisdom(text, {"Xeon", 4}));
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(parse_kernel_wisdom(text.substr(0, length), machine)) << length;
  EXPECT_NE(parse_kernel_wisdom("[]", machine).error().sentence().find("got a JSON list"), std::string::npos);
}

} // namespace
} // namespace kumihimo::plan
