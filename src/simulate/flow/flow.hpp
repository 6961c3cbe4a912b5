#pragma once

#include "base/result.hpp"
#include "schedule/schedule.hpp"
#include "simulate/network.hpp"
#include "simulate/prediction.hpp"

namespace kumihimo::simulation {

// Max-min fair shares level by level for the first segment, a steady period for the others.
Result<Prediction> predict_flow(const Schedule& schedule, const Network& network);

// The part of a lane's role that its phase shares: "reduce, tree 0" is of "reduce".
std::string phase_name(const std::string& role);

} // namespace kumihimo::simulation
