// Fits the constants of the model flow (simulate/flow/fitted.def) to the exact solution of random cases, each alone,
// with the others as they are:
//
//   simulate_fit [CASES [SEED [CONSTANT ...]]]
//
// closest    the value with the least root mean square of relative errors
// covering   the least value with which all cases are in their range that are so today
// claiming   the largest such value
//
// Of the latter two the table has how many cases distinguish values at all, the best value for all cases that one of
// them holds, and how many are out of their range with the value of today, the best one, and one 20 % tighter.
#include "random_answers.hpp"
#include "random_programs.hpp"
#include "simulate/flow/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <span>

namespace kumihimo::simulate_test {
namespace {

using simulation::Fit;
using simulation::FittedCases;
using simulation::FittedConstant;
using simulation::FittedNumbers;
using simulation::FlowParts;

struct Case {
  std::string text;
  SchedulePrediction exact;
  std::function<SchedulePrediction(const FittedNumbers&)> predict;

  double error(const FittedNumbers& numbers) const { return predict(numbers).seconds.value / exact.seconds.value - 1; }
};

// The programs as they are asked for, by levels.
template <class Of, class Programs>
void add(std::vector<Case>& cases, const Of& of, const Programs& programs, FlowStageSet without = {}) {
  const SchedulePrediction exact = answer(of, programs, {ScheduleModel::exact});
  if (exact.seconds.value <= 0) return;
  cases.push_back({of.text(), exact, [of, programs, without](const FittedNumbers& numbers) {
                     FlowParts parts;
                     parts.fitted = numbers;
                     SimulateOptions options = without_exact_work(ScheduleModel::flow);
                     options.parts = &parts, options.without = without;
                     return answer(of, programs, options);
                   }});
}

std::vector<Case> trees() {
  std::vector<Case> cases;
  for (const char* shape : {"4x4x4", "3x3x3", "6x5x4", "8x2x4"})
    for (const char* name : {"trinaryx3", "trinaryx6", "trinaryx3_overlap"})
      for (const int exponent : {20, 22, 24})
        for (const std::int64_t segments : {2, 3, 4, 6, 8, 12, 16, 32, 64}) {
          const RandomCase c = named(CollectiveKind::allreduce, name, shape, std::int64_t{1} << exponent, segments);
          if (const auto s = c.schedule()) add(cases, c, *s);
        }
  return cases;
}

struct Cases {
  std::vector<Case> collectives, programs, trees, walked;

  std::vector<const Case*> of(FittedCases name) const {
    std::vector<const Case*> all;
    const auto take = [&](const std::vector<Case>& some) {
      for (const Case& c : some) all.push_back(&c);
    };
    switch (name) {
    case FittedCases::trees: take(trees); break;
    case FittedCases::collectives_without_periods: take(walked); break;
    case FittedCases::collectives_and_programs: take(programs); [[fallthrough]];
    case FittedCases::collectives: take(collectives); break;
    }
    return all;
  }
};

Cases drawn(std::int64_t count, std::uint64_t seed) {
  Cases cases;
  for_each_case(count, [&](const RandomCase& c, const Schedule& s) {
    add(cases.collectives, c, s);
    if (s.segments.count > 1) add(cases.walked, c, s, FlowStageSet().add(FlowStage::periods));
  });
  RandomCases loops(seed);
  for (std::int64_t i = 0; i < count / 4; ++i) {
    const RandomCase c = loops.looped();
    if (const auto s = c.schedule()) add(cases.collectives, c, *s);
  }
  RandomProgramSets sets(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const RandomPrograms c = sets.next();
    add(cases.programs, c, c.set);
  }
  cases.trees = trees();
  return cases;
}

FittedNumbers with(const FittedConstant& constant, double value) {
  FittedNumbers numbers;
  numbers.*constant.value = value;
  return numbers;
}

double root_mean_square(const std::vector<const Case*>& cases, const FittedConstant& constant, double value) {
  double squares = 0;
  for (const Case* const c : cases) squares += std::pow(c->error(with(constant, value)), 2);
  return std::sqrt(squares / static_cast<double>(cases.size()));
}

void fit_closest(const std::vector<const Case*>& cases, const FittedConstant& constant) {
  const double today = FittedNumbers{}.*constant.value;
  double best = today, least = root_mean_square(cases, constant, today);
  std::string errors;
  for (const double factor : {0.5, 0.625, 0.75, 0.875, 1.0, 1.25, 1.5, 2.0}) {
    const double value = factor * today, error = root_mean_square(cases, constant, value);
    if (error < least) best = value, least = error;
    errors += fmt::format("{}{:g}: {:.2f} %", errors.empty() ? "" : ", ", value, 100 * error);
  }
  fmt::print("| {} | closest | {} | {} | {:g} | {:g} | root mean square of errors: {} |\n", constant.name, cases.size(),
             cases.size(), today, best, errors);
}

// Of a case that distinguishes values: the loosest range has it, and the tightest is another.
struct Demand {
  const Case* of = nullptr;
  double value = 0; // the tightest in whose range it is
};

std::optional<Demand> demand_of(const Case& c, const FittedConstant& constant, double tight, double loose) {
  const SchedulePrediction at_tight = c.predict(with(constant, tight)), at_loose = c.predict(with(constant, loose));
  if (at_tight.too_long == at_loose.too_long && at_tight.too_short == at_loose.too_short) return {};
  if (is_in_range(at_tight, c.exact)) return Demand{&c, tight};
  if (!is_in_range(at_loose, c.exact)) return Demand{&c, std::numeric_limits<double>::quiet_NaN()};
  for (int i = 0; i < 12; ++i) {
    const double middle = (tight + loose) / 2;
    (is_in_range(c.predict(with(constant, middle)), c.exact) ? loose : tight) = middle;
  }
  return Demand{&c, loose};
}

void fit_range(const std::vector<const Case*>& cases, const FittedConstant& constant,
               std::map<std::string, std::string>& out_of_range) {
  const double today = FittedNumbers{}.*constant.value;
  const bool covers = constant.fit == Fit::covering;
  const bool is_share = constant.name.ends_with("short") || !covers; // at most all of the time
  const double tight = covers ? 0 : std::max(1.0, 4 * std::floor(today)),
               loose = covers ? (is_share ? 0.999 : 4 * today) : 0;
  std::vector<Demand> demands;
  for (const Case* const c : cases)
    if (const auto demand = demand_of(*c, constant, tight, loose)) demands.push_back(*demand);
  const auto is_outside = [&](const Demand& d, double value) {
    return std::isnan(d.value) || (covers ? d.value > value : d.value < value);
  };
  const auto outside = [&](double value) {
    return std::count_if(demands.begin(), demands.end(), [&](const Demand& d) { return is_outside(d, value); });
  };
  double best = tight, all = tight;
  const auto loosen = [&](double& value, double to) { value = covers ? std::max(value, to) : std::min(value, to); };
  for (const Demand& d : demands) {
    if (std::isnan(d.value)) continue;
    loosen(all, d.value);
    if (!is_outside(d, today)) loosen(best, d.value);
  }
  fmt::print("| {} | {} | {} | {} | {:g} | {:.3g} | {:.3g} | {}, {}, {} |\n", constant.name,
             covers ? "covering" : "claiming", cases.size(), demands.size(), today, best, all, outside(today),
             outside(best), outside(covers ? best / 1.2 : std::min(tight, 1.2 * best)));
  for (const Demand& d : demands)
    if (is_outside(d, today) && !std::isnan(d.value))
      out_of_range[d.of->text] += fmt::format("; {:.3g} as {} would hold it", d.value, constant.name);
}

void run(std::int64_t count, std::uint64_t seed, std::span<char*> names) {
  const Cases cases = drawn(count, seed);
  fmt::print("{} collectives, {} program sets, {} trees, {} collectives without periods\n\n", cases.collectives.size(),
             cases.programs.size(), cases.trees.size(), cases.walked.size());
  fmt::print("| constant | fit | cases | that distinguish | today | best | best for all | out of their range: today, "
             "best, 20 % tighter |\n|---|---|---|---|---|---|---|---|\n");
  std::map<std::string, std::string> out_of_range;
  for (const FittedConstant& constant : simulation::fitted_constants) {
    if (!names.empty() && std::ranges::find(names, constant.name) == names.end()) continue;
    if (constant.fit == Fit::closest)
      fit_closest(cases.of(constant.cases), constant);
    else
      fit_range(cases.of(constant.cases), constant, out_of_range);
    std::fflush(stdout);
  }
  fmt::print("\nOut of their range, but for one constant:\n\n");
  for (const auto& [text, why] : out_of_range) fmt::print("- {}{}\n", text, why);
}

} // namespace
} // namespace kumihimo::simulate_test

int main(int argc, char** argv) {
  if (argc > 1) setenv("KUMIHIMO_CASES", argv[1], 1);
  if (argc > 2) setenv("KUMIHIMO_SEED", argv[2], 1);
  using kumihimo::simulate_test::from_environment;
  kumihimo::simulate_test::run(from_environment("KUMIHIMO_CASES", 1000),
                               static_cast<std::uint64_t>(from_environment("KUMIHIMO_SEED", 1)),
                               std::span(argv + std::min(argc, 3), argv + argc));
}
