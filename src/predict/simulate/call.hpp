// What a call of a library takes beside its steps: a copy of the input, scratch, and packing of blocks that lie apart.
#pragma once

#include "fluid/resources.hpp"
#include "schedule/schedule.hpp"
#include "simulate/prediction.hpp"

namespace kumihimo::simulation {

// Adds the seconds of the rank that takes longest to the prediction, before its first phase. No time on machines
// without input_copy_rate, scratch_rate and pack_cost. Work: O(ranks) where there is one of them.
void add_call(const Schedule& schedule, const NetworkPaths& network, SchedulePrediction& prediction);

// Adds the exchange of addresses before each phase (SoftwareNumbers::put_setup) and the registration of long buffers,
// by those of rank 0.
void add_setup(const ProgramSet& set, const NetworkPaths& network, Lanes lanes, SchedulePrediction& prediction);

} // namespace kumihimo::simulation
