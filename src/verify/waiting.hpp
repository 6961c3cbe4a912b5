// Messages that wait for their other end, and, when nothing moves any more, who waits for whom.
#pragma once

#include "verify/activation.hpp"
#include "verify/rank_state.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace kumihimo::verify {

// A step in flight. Its activation lives as long as it is.
struct End {
  Activation* activation = nullptr;
  std::int32_t node = 0, step = 0; // its round, and its index in the activation's steps

  const StepInstance& instance() const { return activation->steps[step]; }
  StepLocation place() const { return activation->place(node, step); }
};

// The k-th send of segment s on lane l from a to b meets the k-th receive there; signals are counted apart.
struct StepMessageKey {
  std::int32_t from = 0, to = 0, lane = 0, ordinal = 0;
  std::int64_t segment = 0;
  bool signal = false;
  bool operator==(const StepMessageKey&) const = default;
};
struct MessageKeyHash {
  std::size_t operator()(const StepMessageKey& k) const noexcept;
};
StepMessageKey message_key(const End& end);
StepMessageKey offload_key(const End& end);

struct Meeting {
  End send, receive;
};
using Posted = std::unordered_map<StepMessageKey, Meeting, MessageKeyHash>;
// The ranks that have come to each call of a network's engine.
using Offloaded = std::unordered_map<StepMessageKey, std::vector<End>, MessageKeyHash>;

// The cycle of a deadlock, or the step whose partner never comes.
std::vector<Finding> stuck_findings(const std::vector<std::unique_ptr<RankState>>& ranks, const Posted& posted,
                                    const Offloaded& offloads);

} // namespace kumihimo::verify
