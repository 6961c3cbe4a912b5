// What fluid::run is asked.
#pragma once

#include "hosts/outcome.hpp"

namespace kumihimo::fluid {

// While more than `above` messages are under way, each may start later and end earlier by a share of its time.
struct Tolerance {
  std::int64_t above = 2000;
  double share = 0.01;
};

struct Options : hosts::Options {
  Tolerance tolerance;
};

} // namespace kumihimo::fluid
