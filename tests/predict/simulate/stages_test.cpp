// Every stage of the model flow, on and off, against the exact solution of random cases; and a wrong stage is found.
// KUMIHIMO_CASES and KUMIHIMO_SEED choose others.
#include "random_answers.hpp"
#include "random_programs.hpp"
#include "simulate/flow/parts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace kumihimo::simulate_test {
namespace {

using simulation::FlowParts;

// Small programs are solved by levels, and symmetry and samples are looked for in all that have more than 200 steps.
SimulateOptions as_large_programs(FlowStageSet without = {}, const FlowParts* parts = nullptr) {
  SimulateOptions options = without_exact_work(ScheduleModel::flow);
  options.most_steps = 200;
  options.without = without;
  options.parts = parts;
  return options;
}

// fn(case, its programs, their exact solution) for three kinds of cases.
template <class F>
void for_each_of_all(std::int64_t count, F&& fn) {
  const auto solved = [&](const auto& c, const auto& programs) {
    const SchedulePrediction exact = answer(c, programs, {ScheduleModel::exact});
    if (exact.seconds.value > 0) fn(c, programs, exact);
  };
  for_each_case(count, solved);
  const auto seed = static_cast<std::uint64_t>(from_environment("KUMIHIMO_SEED", 1));
  RandomProgramSets sets(seed);
  RandomCases loops(seed);
  for (std::int64_t left = from_environment("KUMIHIMO_CASES", count); left > 0; --left) {
    const RandomPrograms c = sets.next();
    solved(c, c.set);
    if (left % 4 > 0) continue;
    const RandomCase looped = loops.looped();
    if (const auto s = looped.schedule()) solved(looped, *s);
  }
}

TEST(Stages, OnAndOffAreWithinTheirRange) {
  std::set<std::string_view> matter;
  for_each_of_all(60, [&](const auto& c, const auto& programs, const SchedulePrediction& exact) {
    const SchedulePrediction all = answer(c, programs, as_large_programs());
    expect_in_range(c, all, exact);
    for (const FlowStageRow& row : flow_stages) {
      if (row.without.empty()) continue;
      const SchedulePrediction without =
          answer(c, programs, as_large_programs(FlowStageSet().add(*parse_stage(row.name))));
      expect_in_range(c, without, exact, fmt::format("without {}", row.name));
      switch (*parse_stage(row.name)) { // of those whose range says nothing
      case FlowStage::levels: EXPECT_NEAR(without.seconds.value / exact.seconds.value, 1, 1e-12) << c.text(); break;
      case FlowStage::doubts:
        EXPECT_EQ(without.seconds.value, all.seconds.value) << c.text();
        EXPECT_TRUE(std::isinf(without.too_long) && without.too_short == 1 && !without.accuracy.empty()) << c.text();
        break;
      default: break;
      }
      if (without.seconds != all.seconds || without.accuracy != all.accuracy || without.ranks_alike != all.ranks_alike)
        matter.insert(row.name);
    }
  });
  for (const FlowStageRow& row : flow_stages)
    EXPECT_EQ(matter.contains(row.name), !row.without.empty()) << row.name << " changes no case";
}

void shorten_messages(simulation::Compiled& compiled) {
  for (simulation::FlatStep& step : compiled.steps) step.bytes /= 10, step.exact = false;
}

// Of each stage, by its number in flow_stages: what it returns is wrong.
std::vector<FlowParts> wrong_parts() {
  using namespace simulation;
  std::vector<FlowParts> wrong(flow_stages.size());
  const auto of = [&](FlowStage stage) -> FlowParts& { return wrong[static_cast<std::size_t>(stage)]; };
  of(FlowStage::compile).compile = [](const ProgramSet& set, const NetworkPaths* network) {
    auto compiled = compile(set, network);
    if (compiled) shorten_messages(*compiled);
    return compiled;
  };
  of(FlowStage::symmetry).symmetry = [](Compiled compiled, const NetworkPaths& network, double most_steps) {
    compiled = fold_symmetry(std::move(compiled), network, most_steps);
    if (compiled.symmetry) shorten_messages(compiled);
    return compiled;
  };
  of(FlowStage::sampling).sampling = [](const Compiled& compiled, double most_steps) {
    Sampling sampling = plan_sampling(compiled, most_steps);
    for (SampledLoop& loop : sampling.loops) loop.iterations /= 4; // the first quarter stands for all
    return sampling;
  };
  of(FlowStage::levels).levels = [](Walk& walk, std::int32_t phase, WalkProgress before) {
    auto walked = walk.phase(phase, std::move(before));
    if (walked)
      for (LaneTimes& lane : walked->progress.lanes) lane.end = lane.end.plus_latency(lane.end.seconds - lane.start);
    return walked;
  };
  of(FlowStage::periods).periods = [](const auto&... given) {
    std::vector<Period> found = periods(given...);
    for (Period& period : found) period.seconds /= 10;
    return found;
  };
  of(FlowStage::doubts).doubts = [](const auto&...) { return std::vector<Doubt>(); };
  return wrong;
}

TEST(Stages, AWrongOneIsFound) {
  const std::vector<FlowParts> wrong = wrong_parts();
  std::vector<std::int64_t> found(wrong.size());
  for_each_of_all(100, [&](const auto& c, const auto& programs, const SchedulePrediction& exact) {
    if (!is_in_range(answer(c, programs, as_large_programs({})), exact)) return; // no merit of a wrong stage
    for (std::size_t s = 0; s < wrong.size(); ++s)
      found[s] += !is_in_range(answer(c, programs, as_large_programs({}, &wrong[s])), exact);
  });
  for (std::size_t s = 0; s < wrong.size(); ++s) {
    fmt::print("a wrong {}: {} cases are out of their range\n", flow_stages[s].name, found[s]);
    EXPECT_GT(found[s], 0) << flow_stages[s].name;
  }
}

} // namespace
} // namespace kumihimo::simulate_test
