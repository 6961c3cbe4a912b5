// Which stages of a prediction run, how long each takes, and what each did.
#pragma once

#include "simulate/options.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::simulation {

class StageLog {
 public:
  explicit StageLog(const SimulateOptions& options) : without_(options.without), now_(options.clock) {}

  bool runs(FlowStage stage) const { return !without_.has(stage); }
  // fn() is a part of the stage; returns its result.
  template <class F>
  auto time(FlowStage stage, F&& fn) {
    if (!now_) return fn();
    const double begin = now_();
    auto result = fn();
    seconds_[static_cast<std::size_t>(stage)] += now_() - begin;
    return result;
  }
  // What the stage did. Of a stage that runs several times the last note counts.
  template <class... Args>
  void note(FlowStage stage, fmt::format_string<Args...> text, Args&&... args) {
    if (now_ && runs(stage)) what_[static_cast<std::size_t>(stage)] = fmt::format(text, std::forward<Args>(args)...);
  }
  std::vector<FlowStageReport> reports() const {
    std::vector<FlowStageReport> all;
    for (std::size_t s = 0; now_ && s < flow_stages.size(); ++s) {
      const auto stage = static_cast<FlowStage>(s);
      const std::string_view otherwise = runs(stage) ? "not needed" : flow_stages[s].without;
      all.push_back({stage, !runs(stage), seconds_[s], what_[s].empty() ? std::string(otherwise) : what_[s]});
    }
    return all;
  }

 private:
  FlowStageSet without_;
  double (*now_)();
  std::array<double, flow_stages.size()> seconds_{};
  std::array<std::string, flow_stages.size()> what_;
};

} // namespace kumihimo::simulation
