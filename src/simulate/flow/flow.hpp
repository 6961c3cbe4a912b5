#pragma once

#include "base/result.hpp"
#include "program/program_set.hpp"
#include "simulate/network.hpp"
#include "simulate/prediction.hpp"

namespace kumihimo::simulation {

// Max-min fair shares level by level for the first segment, a steady period for the others. Where the iterations of
// loops come to more than `most_steps` steps of all ranks, some of the iterations stand for all
// (simulate/flow/sampled.hpp).
Result<Prediction> predict_flow(const ProgramSet& schedule, const Network& network, double most_steps, Seconds bound);

} // namespace kumihimo::simulation
