// The rates at which a rank of a job does its own work.
#pragma once

#include "goal/programs.hpp"
#include "machine/job.hpp"

namespace kumihimo::goal {

// Of a machine's node: reductions, copies, and a rank's share of flop_rate and memory_bandwidth, where nodes have
// several ranks (their mean number). Processors and interfaces are left to the model.
WorkRates rates_of(const Job& job, bool scalar_reduction = false);

} // namespace kumihimo::goal
