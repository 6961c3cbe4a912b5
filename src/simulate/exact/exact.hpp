// The fluid solution without approximations, the golden copy of `flow`: every step of every segment is an event, and
// the fair shares are solved anew whenever a transfer or a reduction starts or ends. For machines of some hundred
// nodes.
#pragma once

#include "base/result.hpp"
#include "program/program_set.hpp"
#include "simulate/network.hpp"
#include "simulate/prediction.hpp"

namespace kumihimo::simulation {

inline constexpr std::int32_t exact_rank_limit = 512;

Result<Prediction> predict_exact(const ProgramSet& schedule, const Network& network);

} // namespace kumihimo::simulation
