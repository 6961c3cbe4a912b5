// Eager messages whose receives are posted later flow beside those of earlier levels, which their own level does not
// share with. As all together take as long as one behind the other, each starts behind those before it.
#pragma once

#include "simulate/flow/level.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace kumihimo::simulation {

class EagerQueues {
 public:
  EagerQueues(const Network& network)
      : capacities_(network.capacities()), until_(network.has_eager() ? capacities_.size() : 0) {}

  // When a message over these resources can start.
  double free(std::span<const Resource> resources, double cost) const {
    double free = 0;
    for (const Resource r : resources) free = std::max(free, until_[r] - cost);
    return free;
  }
  void add(const FlowLevel& level) {
    if (until_.empty()) return;
    for (std::size_t i = 0; i < level.messages.size(); ++i) {
      const FlowMessage& m = level.messages[i];
      if (!m.path.eager || m.repetitions > 1) continue;
      for (const Resource r : level.flows.of(i))
        until_[r] = std::max(until_[r], m.flows_from()) + m.moved / capacities_[r];
    }
  }
  void clear() { std::fill(until_.begin(), until_.end(), 0); }

 private:
  const std::vector<double>& capacities_;
  std::vector<double> until_; // by resource: busy, seconds; empty if no message is eager
};

} // namespace kumihimo::simulation
