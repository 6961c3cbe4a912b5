// Times below which no schedule of a collective can be on a machine. Reductions combine data on the way, nothing else
// does: a message is not multiplied by the network. Its own engine, where it has one, is another way for a vector that
// it takes in one call. Longer vectors in many calls at once are left out: the machine files know a call's latency and
// no rate of calls, so that a bound over them would be that latency for any length, and would say nothing.
#pragma once

#include "schedule/collective.hpp"
#include "simulate/network.hpp"
#include "simulate/prediction.hpp"

namespace kumihimo::simulation {

std::vector<LowerBound> lower_bounds(const Collective& collective, const Network& network);

} // namespace kumihimo::simulation
