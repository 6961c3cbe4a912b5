// Eager messages whose receives are posted later flow beside those of earlier levels, which their own level does not
// share with. As all together take as long as one behind the other, each starts behind those that began before it.
#pragma once

#include "simulate/flow/level.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace kumihimo::simulation {

class EagerQueues {
 public:
  EagerQueues(const NetworkPaths& network)
      : capacities_(network.capacities()), queues_(network.has_eager() ? capacities_.size() : 0) {}

  // Seconds that a message over these resources waits which could flow from `start` on.
  double wait(std::span<const Resource> resources, double start) const {
    double until = start;
    for (const Resource r : resources) until = std::max(until, queues_[r].until(start));
    return until - start;
  }
  void add(const FlowLevel& level) {
    if (queues_.empty()) return;
    for (std::size_t i = 0; i < level.messages.size(); ++i) {
      const FlowMessage& m = level.messages[i];
      if (!m.path.eager || m.repetitions > 1) continue;
      for (const Resource r : level.flows.of(i)) queues_[r].add({m.flows_from(), m.moved / capacities_[r]});
    }
  }
  void clear() { std::fill(queues_.begin(), queues_.end(), Queue{}); }

 private:
  struct Work {
    double start = 0, seconds = 0;
    double end(double before) const { return std::max(before, start) + seconds; }
  };
  // Of a resource: the messages that began last, in the order of their beginning; the first stands for all before it.
  class Queue {
   public:
    // When it has done what began by then.
    double until(double start) const {
      double until = 0;
      for (std::size_t i = 0; i < size_ && works_[i].start <= start; ++i) until = works_[i].end(until);
      return until;
    }
    void add(const Work& work) {
      std::size_t at = size_;
      for (; at > 0 && works_[at - 1].start > work.start; --at) works_[at] = works_[at - 1];
      works_[at] = work;
      if (++size_ <= most) return;
      works_[1] = {works_[1].start, works_[1].end(works_[0].start + works_[0].seconds) - works_[1].start};
      std::copy(works_.begin() + 1, works_.end(), works_.begin());
      --size_;
    }

   private:
    static constexpr std::size_t most = 2;
    std::array<Work, most + 1> works_;
    std::size_t size_ = 0;
  };
  const std::vector<double>& capacities_;
  std::vector<Queue> queues_; // by resource; empty if no message is eager
};

} // namespace kumihimo::simulation
