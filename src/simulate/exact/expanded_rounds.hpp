// One lane of one rank with its loops expanded: rounds, and which rounds each waits for. The same for every segment but
// for the lengths.
#pragma once

#include "program/binding.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kumihimo::simulation {

struct ExpandedStep {
  const Step* step = nullptr;
  const Expression* gap = nullptr; // of its round
  std::array<std::int64_t, max_depth> values{};
  std::int32_t offload = -1; // its number among the offloads of its lane
};

struct ExpandedRound { // without steps: a mere meeting point
  std::vector<ExpandedStep> steps;
  std::vector<std::int32_t> next; // rounds that wait for this one
  std::int32_t waits_for = 0;
};

class LoopExpander {
 public:
  std::vector<ExpandedRound> run(const Lane& lane) {
    body(lane.body, 1, -1);
    return std::move(rounds_);
  }

 private:
  static constexpr std::int32_t at_once = -1; // waits for nothing

  std::int32_t add(std::int32_t after) {
    rounds_.emplace_back();
    const auto mine = static_cast<std::int32_t>(rounds_.size()) - 1;
    wait(mine, after);
    return mine;
  }
  void wait(std::int32_t mine, std::int32_t after) {
    if (after == at_once) return;
    rounds_[after].next.push_back(mine);
    ++rounds_[mine].waits_for;
  }

  // The round after which the body is complete.
  std::int32_t body(const Body& body, std::int32_t depth, std::int32_t after) {
    for (const Node& node : body) {
      const Round* round = std::get_if<Round>(&node);
      after = round ? one_round(*round, after) : loop(std::get<Loop>(node), depth, after);
    }
    return after;
  }

  std::int32_t one_round(const Round& round, std::int32_t after) {
    const std::int32_t mine = add(after);
    for (const Step& step : round.steps)
      rounds_[mine].steps.push_back({&step, &round.gap, values_, step.kind == StepKind::offload ? offloads_++ : -1});
    return mine;
  }

  // Iteration i waits for all up to i - in_flight: each end of an iteration joins those before it.
  std::int32_t loop(const Loop& loop, std::int32_t depth, std::int32_t after) {
    std::vector<std::int32_t> joined;
    for (std::int64_t i = 0; i < loop.trip; ++i) {
      values_[depth] = i;
      const std::int32_t start = i < loop.in_flight ? after : joined[i - loop.in_flight];
      const std::int32_t end = body(loop.body, depth + 1, start);
      if (loop.in_flight == 1) {
        joined.push_back(end);
        continue;
      }
      const std::int32_t join = add(end);
      if (i > 0) wait(join, joined.back());
      joined.push_back(join);
    }
    values_[depth] = 0;
    return joined.empty() ? after : joined.back();
  }

  std::vector<ExpandedRound> rounds_;
  std::array<std::int64_t, max_depth> values_{};
  std::int32_t offloads_ = 0;
};

// The program must outlive the result.
inline std::vector<ExpandedRound> expand(const Lane& lane) { return LoopExpander().run(lane); }

} // namespace kumihimo::simulation
