// How long the messages of a level take: their rates, what they wait for, and how far off that may be.
#pragma once

#include "simulate/flow/by_resource.hpp"
#include "simulate/flow/eager_queues.hpp"
#include "simulate/flow/fair_shares.hpp"
#include "simulate/flow/fitted.hpp"
#include "simulate/flow/late_overlap.hpp"
#include "simulate/flow/level.hpp"
#include "simulate/flow/reducers.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace kumihimo::simulation {

class LevelTimes {
 public:
  LevelTimes(const NetworkPaths& network, const FittedNumbers& fitted);

  // `pipelined`: more segments follow, at a steady period.
  void begin_phase(const Compiled& compiled, std::int32_t phase, bool pipelined);
  void solve(FlowLevel& level);
  void end(FlowLevel& level); // once it is delivered

  const FairShares& shares() const { return shares_; } // of the last level
  const EagerQueues& eager() const { return eager_; }
  // Seconds by which messages of later levels may lengthen those of the phase so far.
  double late_overlap() const { return late_overlap_; }

 private:
  struct Spread { // of times
    double first = std::numeric_limits<double>::infinity(), last = -first;
    void add(double time) { first = std::min(first, time), last = std::max(last, time); }
    double length() const { return last - first; }
  };
  // When the slowed messages that use a resource begin and end, and when they begin if each was early by its error:
  // messages that seem to meet may each have been early by another time.
  struct ActiveInterval {
    Spread starts, ends, early_starts;
    void add(double start, double end, double error) {
      starts.add(start), ends.add(end), early_starts.add(start - error);
    }
    double apart() const { return std::max({starts.length(), ends.length(), early_starts.length()}); }
  };
  struct Sharing {         // of a resource, from its shortest message on
    std::int32_t left = 0; // messages that are no shorter
    double shorter = 0;    // bytes of those that are
  };
  struct Slowed { // a message that shares something full
    std::uint32_t message = 0;
    double seconds = 0; // by which that lengthens it
  };

  void share_by_length(FlowLevel& level);
  void find_sharing_errors(FlowLevel& level);
  template <class F>
  void for_each_shared(const FlowLevel& level, std::size_t message, F&& fn) const;

  const NetworkPaths& network_;
  FairShares shares_;
  Reducers reducers_;
  EagerQueues eager_;
  double unequal_;
  bool pipelined_ = false;
  MessagesUnderWay messages_under_way_; // unless pipelined
  SumsUnderWay sums_under_way_;
  double late_overlap_ = 0;

  std::vector<std::pair<double, std::uint32_t>> by_length_; // bytes and message
  std::vector<double> alone_; // by message: seconds that the most that it shares takes, were it all
  ByResource<Sharing> sharing_;
  std::vector<Slowed> slowed_;
  ByResource<ActiveInterval> active_;
};

} // namespace kumihimo::simulation
