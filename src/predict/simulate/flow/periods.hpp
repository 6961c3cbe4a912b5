// The steady state of pipelines: once all segments of a phase are under way, each pipeline (lanes coupled segment by
// segment) passes one segment a period. Pipelines that run together share the resources max-min fairly.
#pragma once

#include "simulate/flow/sweep.hpp"

#include <string>

namespace kumihimo::simulation {

struct Period {
  double seconds = 0;
  double longest = 0;   // what it may be where segments in flight meet in a queue
  double shortest = 0;  // what it may be where none meet; 0: no less
  double least = 0;     // what it cannot be shorter than: its fullest queue, or the fullest resource of all pipelines
  double reducing = 0;  // part of it during which the busiest rank reduces
  std::string limiting; // the resource or the window that sets it
};

// For each pipeline of the phase. `sweep` has just run it.
std::vector<Period> periods(const Compiled& compiled, const Network& network, Sweep& sweep, std::int32_t phase);

} // namespace kumihimo::simulation
