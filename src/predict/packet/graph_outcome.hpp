// What the packet model tells of graphs of operations.
#pragma once

#include "hosts/outcome.hpp"
#include "packet/background.hpp"
#include "packet/options.hpp"

namespace kumihimo::packet {

struct GraphOutcome : hosts::Outcome {
  DeliveredTraffic traffic;
  std::vector<BackgroundUse> background; // of each background job: what it did until the end
};

using hosts::Observers;

} // namespace kumihimo::packet
