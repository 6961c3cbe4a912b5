// What fluid::run is asked.
#pragma once

#include "hosts/outcome.hpp"

namespace kumihimo::fluid {

// While more than `above` messages are under way, each may end earlier by a share of its time, and start later by that
// or by the share of the usual time of messages.
struct Tolerance {
  std::int64_t above = 2000;
  double share = 0.01;
};

struct Options : hosts::Options {
  Tolerance tolerance;
};

} // namespace kumihimo::fluid
