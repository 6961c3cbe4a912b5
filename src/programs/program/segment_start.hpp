// When a lane may start its next segment at its rank (ADR 0001): the rule of verify, the exact simulator and the
// engine.
//
// A shared scratch slot is reused only when every lane that is `after` its writer has finished that segment. So before
// its segment s, a lane that writes shared scratch of W slots also waits for segment s - W of those lanes.
#pragma once

#include "program/program.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo {

struct SegmentWait {
  std::int32_t lane = 0;   // index in the program
  std::int64_t behind = 0; // for its segment s - behind ...
  bool all = false;        // ... or for all its segments
  bool operator==(const SegmentWait&) const = default;
};

// The waits of each lane of the program at its own rank, beside its window. Lanes that the rank lacks are ignored.
std::vector<std::vector<SegmentWait>> waits_of(const Program& program, Segments segments);

// Where a lane stands: segments below `begun` have begun, those below `complete` are complete.
struct LanePosition {
  std::int64_t begun = 0, complete = 0, window = 1;
};

// Whether segment `begun` may start. all_complete(lane): whether all segments of another lane are; is_complete(lane,
// s): whether one is, of those from 0 on.
template <class AllComplete, class IsComplete>
bool may_start(const LanePosition& lane, std::int64_t segments, std::span<const SegmentWait> waits,
               AllComplete&& all_complete, IsComplete&& is_complete) {
  if (lane.begun == segments || lane.begun - lane.complete >= lane.window) return false;
  for (const SegmentWait& wait : waits)
    if (wait.all ? !all_complete(wait.lane)
                 : lane.begun >= wait.behind && !is_complete(wait.lane, lane.begun - wait.behind))
      return false;
  return true;
}

// Phases: a lane is one phase later than any that it waits for in whole, and never earlier than one whose segments it
// follows.

// `lane` waits for `on`; both are indices below the number of lanes.
struct LaneWait {
  std::int32_t lane, on;
  Scope scope;
  auto operator<=>(const LaneWait&) const = default;
};

// The waits between the lanes of one rank. Waits for lanes that the rank lacks are left out.
std::vector<LaneWait> lane_waits(const Program& program);

struct LanePhases {
  std::vector<std::int32_t> of_lane; // from 0; any where there is a cycle
  bool has_cycle = false;            // lanes wait for each other, one of them for another in whole
};
LanePhases phases(std::size_t lanes, std::span<const LaneWait> waits);

} // namespace kumihimo
