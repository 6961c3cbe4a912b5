// The stage `periods`: the steady state of pipelines. Once all segments of a phase are under way, each pipeline (lanes
// coupled segment by segment) passes one segment a period. Pipelines that run together share the resources max-min
// fairly.
#pragma once

#include "simulate/flow/fitted.hpp"
#include "simulate/flow/walk.hpp"

#include <string>
#include <vector>

namespace kumihimo::simulation {

struct Period {
  double seconds = 0;
  double longest = 0;   // what it may be where segments in flight meet in a queue
  double shortest = 0;  // what it may be where none meet; 0: no less
  double least = 0;     // what it cannot be shorter than: its fullest queue, or the fullest resource of all pipelines
  double reducing = 0;  // part of it during which the busiest rank reduces
  std::string limiting; // the resource or the window that sets it
};

// For each pipeline of the phase, from the walk of its first segment.
std::vector<Period> periods(const Compiled& compiled, const NetworkPaths& network, const PhaseWalk& walk,
                            std::int32_t phase);

// The end of all segments of a lane, which was that of its first.
PathTime end_of_all(const LaneTimes& lane, std::int64_t segments, const Period& period, const FittedNumbers& fitted);

} // namespace kumihimo::simulation
