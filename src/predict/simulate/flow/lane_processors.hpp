// The processor of each lane issues messages one after another and takes those that arrive one after another. It issues
// none while it takes one.
#pragma once

#include "simulate/flow/level.hpp"

#include <algorithm>
#include <vector>

namespace kumihimo::simulation {

class LaneProcessors {
 public:
  explicit LaneProcessors(std::size_t instances) : issuing_(instances), taking_(instances) {}

  // How long a message waits for those of its lane that started before it.
  double issue(const FlowMessage& m) {
    if (m.path.cost <= 0) return 0;
    Busy& busy = issuing_[m.issuer];
    const double start = m.start, cost = m.path.cost;
    double wait = 0;
    if (start >= busy.end)
      busy = {start, start + cost};
    else if (start + cost > busy.begin) // a level is no instant: this one was not first
      wait = busy.end - start, busy.end += cost;
    if (m.path.taking > 0) occupy(taking_[m.issuer], start + wait, cost);
    return wait;
  }
  // The time from its arrival until the receiving lane has taken it.
  double take(const FlowMessage& m, double arrived) {
    const double begin = m.taker < 0 ? arrived : occupy(taking_[m.taker], arrived, m.path.taking);
    return begin - arrived + m.path.taking;
  }

 private:
  struct Busy { // the latest time without a break
    double begin = 0, end = 0;
  };
  // Returns when it begins.
  static double occupy(Busy& busy, double start, double seconds) {
    constexpr double same = 1e-9; // what follows at once is no gap
    if (start > busy.end * (1 + same)) {
      busy = {start, start + seconds};
    } else if (start + seconds > busy.begin) {
      start = std::max(start, busy.end);
      busy.end = start + seconds;
    }
    return start;
  }
  std::vector<Busy> issuing_, taking_; // by instance
};

} // namespace kumihimo::simulation
