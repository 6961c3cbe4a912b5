// Which stages of a prediction run, how long each takes, and what each did.
#pragma once

#include "simulate/options.hpp"

#include <array>
#include <string>
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
  // What the stage did is text(), which is called only if somebody asks.
  template <class F>
  void note(FlowStage stage, F&& text) {
    if (now_) what_[static_cast<std::size_t>(stage)] = text();
  }
  std::vector<FlowStageReport> reports() const {
    std::vector<FlowStageReport> all;
    for (std::size_t s = 0; now_ && s < flow_stages.size(); ++s) {
      const auto stage = static_cast<FlowStage>(s);
      all.push_back({stage, seconds_[s], runs(stage) ? what_[s] : "off: " + std::string(flow_stages[s].without)});
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
