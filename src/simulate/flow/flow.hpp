#pragma once

#include "base/result.hpp"
#include "schedule/schedule.hpp"
#include "simulate/network.hpp"
#include "simulate/prediction.hpp"

namespace kumihimo::simulation {

// Max-min fair shares level by level for the first segment, a steady period for the others.
Result<Prediction> predict_flow(const Schedule& schedule, const Network& network);

} // namespace kumihimo::simulation
