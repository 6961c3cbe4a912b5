// The stage `doubts`: what the model simplifies, where that matters, and by how much the time may be off for it.
#pragma once

#include "simulate/flow/compiled.hpp"
#include "simulate/flow/fitted.hpp"
#include "simulate/flow/loads.hpp"
#include "simulate/flow/path_time.hpp"
#include "simulate/prediction.hpp"

#include <string>
#include <vector>

namespace kumihimo::simulation {

// What all phases came to.
struct Course {
  double seconds = 0;
  PathTime end; // of the slowest path
  ResourceTraffic traffic;
  double late_overlap = 0;    // seconds, see PathTime
  double in_queues = 0;       // seconds that it may be longer: see Period::longest
  double beside_queues = 0;   // seconds that it may be shorter: see Period::shortest
  double least = 0, most = 0; // seconds: if segments overlap as far as the fullest resource lets them, if none does
  std::int64_t levels = 0, messages = 0;
  bool by_periods = false;       // segments follow at a steady period
  bool links_are_shared = false; // messages meet on some
  bool empty_messages = false;   // see PhaseWalk
  bool early_messages = false;
  bool straddles_limits = false;

  double sharing_share() const { return seconds > 0 ? end.sharing_error / seconds : 0; } // of the time
};

// Why the time may be off, and by which fractions of the exact time at most.
struct Doubt {
  std::string why;
  double too_long = 0, too_short = 0;
};

std::vector<Doubt> doubts(const Compiled& compiled, const NetworkPaths& network, const Course& course,
                          const FittedNumbers& fitted);

// The prediction with the range that they make together, and those that matter in one sentence.
SchedulePrediction stated(SchedulePrediction prediction, const std::vector<Doubt>& doubts);
// As `stated`, of a time that was raised to the minimum for the bytes of what limits it.
SchedulePrediction stated_as_minimum(SchedulePrediction prediction, const std::vector<Doubt>& doubts,
                                     const FittedNumbers& fitted);

} // namespace kumihimo::simulation
