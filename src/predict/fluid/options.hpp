// What fluid::run is asked.
#pragma once

#include "hosts/outcome.hpp"

#include <cstdint>
#include <limits>

namespace kumihimo::fluid {

// While more than `above` messages are under way, each may end earlier by a share of its time, and start later by that
// or by the share of the usual time of messages.
struct Tolerance {
  std::int64_t above = 2000;
  double share = 0.01;
};

// Each change is solved alone.
inline constexpr Tolerance no_tolerance{std::numeric_limits<std::int64_t>::max(), 0};

struct FluidOptions : hosts::HostsOptions {
  Tolerance tolerance;
};

} // namespace kumihimo::fluid
