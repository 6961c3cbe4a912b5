// Times below which no schedule of a collective can be on a machine. Reductions combine data on the way, nothing else
// does: a message is not multiplied by the network. Its own engine, where it has one, is another way for vectors of any
// length whose elements it takes: it has no limit in the model but its latency, which no bound exceeds there.
#pragma once

#include "schedule/collective.hpp"
#include "simulate/network.hpp"
#include "simulate/prediction.hpp"

namespace kumihimo::simulation {

std::vector<LowerBound> lower_bounds(const Collective& collective, const Network& network);

} // namespace kumihimo::simulation
