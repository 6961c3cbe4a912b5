// Phases: a lane is one phase later than any that it waits for in whole, and never earlier than one whose segments it
// follows.
#pragma once

#include "program/program.hpp"

#include <span>

namespace kumihimo {

// `lane` waits for `on`; both are indices below the number of lanes.
struct LaneWait {
  std::int32_t lane, on;
  Scope scope;
  auto operator<=>(const LaneWait&) const = default;
};

// Of one rank's lanes; those that the rank lacks are waited for by nobody.
std::vector<LaneWait> lane_waits(const Program& program);

// The phase of each lane, from 0. Lanes that wait for each other in a circle get some.
std::vector<std::int32_t> phases(std::size_t lanes, std::span<const LaneWait> waits);

} // namespace kumihimo
