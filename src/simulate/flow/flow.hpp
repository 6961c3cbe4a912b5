#pragma once

#include "base/result.hpp"
#include "schedule/schedule.hpp"
#include "simulate/network.hpp"
#include "simulate/prediction.hpp"

namespace kumihimo::simulation {

// Max-min fair shares level by level for the first segment, a steady period for the others. Where the iterations of
// loops come to more than `most_steps` steps of all ranks, some of the iterations stand for all
// (simulate/flow/sampled.hpp).
Result<Prediction> predict_flow(const Schedule& schedule, const Network& network, double most_steps);

} // namespace kumihimo::simulation
