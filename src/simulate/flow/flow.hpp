#pragma once

#include "base/result.hpp"
#include "program/program_set.hpp"
#include "simulate/network.hpp"
#include "simulate/simulate.hpp"

namespace kumihimo::simulation {

// Max-min fair shares level by level for the first segment, a steady period for the others: says how the time is spent,
// and how long it is where the exact solution takes more than some 10 ms (options.most_exact_work). Where the
// iterations of loops come to more than options.most_steps steps of all ranks, some of the iterations stand for all
// (simulate/flow/sampled.hpp).
Result<Prediction> predict_flow(const ProgramSet& schedule, const Network& network, const SimulateOptions& options,
                                Seconds bound);

} // namespace kumihimo::simulation
