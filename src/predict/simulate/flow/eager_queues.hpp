// Eager messages whose receives are posted later flow beside those of earlier levels, which their own level does not
// share with. As all together take as long as one behind the other, each starts behind those that began before it.
#pragma once

#include "simulate/flow/level.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
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
  // Of a resource: the two messages that began last, in the order of their beginning; the first stands for all before
  // it. Half a cache line, as a level touches the queues of most resources.
  class alignas(32) Queue {
   public:
    // When it has done what began by then.
    double until(double start) const {
      if (first_.start > start) return 0;
      const double until = first_.end(0);
      return second_.start > start ? until : second_.end(until);
    }
    void add(Work work) {
      if (work.start < second_.start) std::swap(work, second_);
      if (second_.start < first_.start) std::swap(first_, second_);
      if (work.start == never) return;
      // `second_` and `work` stay. What was before them may be under way when `second_` begins.
      first_ = {second_.start, second_.end(first_.start + first_.seconds) - second_.start};
      second_ = work;
    }

   private:
    static constexpr double never = std::numeric_limits<double>::infinity();
    Work first_{never, 0}, second_{never, 0};
  };
  const std::vector<double>& capacities_;
  std::vector<Queue> queues_; // by resource; empty if no message is eager
};

} // namespace kumihimo::simulation
