#include "problem/tuner.hpp"

#include "measure/clock.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace kumihimo::problem {
namespace {

constexpr std::int64_t rounds_before_dropping = 3;
constexpr double far_slower = 1.5;

// One of those that run by turns: a candidate, or the bound.
struct TurnRunner {
  std::size_t place = 0; // in Decision::tried; of the bound, behind all of them
  std::int64_t times = 1;
  bool stays = false;
  std::vector<double> samples = {}; // seconds of one call, a sample each round
};

class Rounds {
 public:
  Rounds(Trial& trial, Decision& decision, const TuningEffort& effort)
      : trial_(trial), decision_(decision), effort_(effort), bound_(decision.tried.size()) {}

  void measure() {
    const std::int64_t start = measure::now_ns();
    for (std::size_t i = 0; i < bound_; ++i)
      if (decision_.tried[i].refused.empty()) add({i, 1, i == decision_.untuned});
    add({bound_, 1, true});
    for (std::int64_t round = 0; round < effort_.most_rounds; ++round) {
      if (round >= effort_.least_rounds && measure::seconds_since(start) >= effort_.seconds) break;
      // Another one begins each round, so that none always follows the same one.
      for (std::size_t i = 0; i < runners_.size(); ++i) {
        TurnRunner& runner = runners_[(i + static_cast<std::size_t>(round)) % runners_.size()];
        runner.samples.push_back(once(runner));
      }
      if (round + 1 == rounds_before_dropping) drop();
    }
    report();
  }

 private:
  // The first run touches the memory and the code; the second tells how many make a sample.
  void add(TurnRunner runner) {
    once(runner);
    const double seconds = std::max(once(runner) * static_cast<double>(trial_.calls()), 1e-9);
    runner.times = std::clamp<std::int64_t>(std::llround(effort_.sample_seconds / seconds), 1, 1'000'000);
    runners_.push_back(std::move(runner));
  }

  double once(const TurnRunner& runner) {
    const std::int64_t start = measure::now_ns();
    if (runner.place == bound_)
      trial_.run_bound(runner.times);
    else
      trial_.run(decision_.tried[runner.place].candidate, runner.times);
    return measure::seconds_since(start) / static_cast<double>(runner.times * trial_.calls());
  }

  void drop() {
    const auto least = [](const TurnRunner& r) { return *std::min_element(r.samples.begin(), r.samples.end()); };
    double fastest = INFINITY;
    for (const TurnRunner& r : runners_)
      if (r.place != bound_) fastest = std::min(fastest, *std::max_element(r.samples.begin(), r.samples.end()));
    std::erase_if(runners_, [&](const TurnRunner& r) {
      if (r.stays || least(r) <= far_slower * fastest) return false;
      decision_.tried[r.place].dropped = true;
      decision_.tried[r.place].seconds = measure::summarise(r.samples);
      return true;
    });
  }

  void report() {
    const auto of = [&](std::size_t place) -> const TurnRunner& {
      return *std::find_if(runners_.begin(), runners_.end(), [&](const TurnRunner& r) { return r.place == place; });
    };
    decision_.bound_seconds = measure::summarise(of(bound_).samples).median;
    const std::vector<double>& untuned = of(decision_.untuned).samples;
    for (const TurnRunner& r : runners_) {
      if (r.place == bound_) continue;
      std::vector<measure::LaunchMedians> pairs;
      for (std::size_t i = 0; i < r.samples.size(); ++i) pairs.push_back({r.samples[i], untuned[i]});
      decision_.tried[r.place].seconds = measure::summarise(r.samples);
      decision_.tried[r.place].untuned = measure::compare(pairs);
    }
  }

  Trial& trial_;
  Decision& decision_;
  const TuningEffort& effort_;
  std::size_t bound_;
  std::vector<TurnRunner> runners_;
};

// The fastest of those that are faster than what runs untuned by their whole interval; else the latter.
std::size_t fastest(const Decision& decision) {
  std::size_t best = decision.untuned;
  for (std::size_t i = 0; i < decision.tried.size(); ++i) {
    const Tried& each = decision.tried[i];
    if (!each.refused.empty() || each.dropped || !each.untuned.is_faster()) continue;
    if (each.seconds.median < decision.tried[best].seconds.median) best = i;
  }
  return best;
}

} // namespace

std::string Candidate::text() const {
  std::string text = variant;
  for (const auto& [name, value] : parameters) text += fmt::format(", {} {}", name, value);
  return text;
}

std::vector<Candidate> candidates_of(const VariantDescription& variant) {
  std::vector<Candidate> all{{std::string(variant.name), {}}};
  for (const TakenParameter& taken : variant.parameters) {
    std::vector<Candidate> more;
    for (const Candidate& each : all)
      for (const std::int64_t value : tuning_values(taken)) {
        more.push_back(each);
        more.back().parameters[std::string(taken.parameter->name)] = value;
      }
    all = std::move(more);
  }
  return all;
}

nlohmann::json to_json(const Decision& decision) {
  const auto of = [](const Candidate& candidate) {
    return nlohmann::json{{"variant", candidate.variant}, {"parameters", candidate.parameters}};
  };
  nlohmann::json tried = nlohmann::json::array();
  for (const Tried& each : decision.tried) {
    nlohmann::json row = of(each.candidate);
    if (!each.refused.empty()) {
      row["refused"] = each.refused;
    } else {
      row.update({{"seconds", each.seconds.median},
                  {"seconds_low", each.seconds.median_interval.low},
                  {"seconds_high", each.seconds.median_interval.high},
                  {"samples", each.seconds.samples},
                  {"outliers", each.seconds.outliers},
                  {"dropped", each.dropped}});
      if (!each.dropped)
        row.update({{"ratio", each.untuned.ratio},
                    {"ratio_low", each.untuned.interval.low},
                    {"ratio_high", each.untuned.interval.high}});
    }
    tried.push_back(std::move(row));
  }
  return {{"chosen", of(decision.tried[decision.chosen].candidate)},
          {"untuned", of(decision.tried[decision.untuned].candidate)},
          {"bound_seconds", decision.bound_seconds},
          {"tried", std::move(tried)}};
}

const std::string& Tuner::fault(const Key& key, const Candidate& candidate) {
  const auto [at, is_new] = faults_.try_emplace({key, candidate.text()});
  if (is_new)
    if (const Status s = problem_.check(key, candidate); !s) at->second = s.error().sentence();
  return at->second;
}

Result<Decision> Tuner::decide(const Key& key, std::int64_t size, const TuningEffort& effort) {
  Decision decision;
  for (const VariantDescription& variant : problem_.variants(key))
    for (Candidate& candidate : candidates_of(variant)) {
      std::string wrong = fault(key, candidate);
      decision.tried.push_back({std::move(candidate), std::move(wrong), {}, {}, false});
    }
  const Candidate untuned = problem_.untuned(key, size);
  const auto at = std::find_if(decision.tried.begin(), decision.tried.end(),
                               [&](const Tried& each) { return each.candidate == untuned; });
  if (at == decision.tried.end()) return failed("the untuned variant is not a variant of this problem", untuned.text());
  if (!at->refused.empty())
    return failed(fmt::format("the untuned variant {} differs from the golden copy", untuned.text()), at->refused);
  decision.untuned = static_cast<std::size_t>(at - decision.tried.begin());
  std::unique_ptr<Trial> trial = TRY(problem_.trial(key, size));
  Rounds(*trial, decision, effort).measure();
  decision.chosen = fastest(decision);
  return decision;
}

} // namespace kumihimo::problem
