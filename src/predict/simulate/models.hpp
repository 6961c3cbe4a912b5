// The models of a prediction, each by itself: bounds, flow, exact.
#pragma once

#include "base/result.hpp"
#include "program/program_set.hpp"
#include "schedule/collective.hpp"
#include "simulate/network.hpp"
#include "simulate/options.hpp"

namespace kumihimo::simulation {

// Times below which no schedule of a collective can be on a machine. Reductions combine data on the way, nothing else
// does: a message is not multiplied by the network. Its own engine, where it has one, is another way for a vector that
// it takes in one call. Longer vectors in many calls at once are left out: the machine files know a call's latency and
// no rate of calls, so that a bound over them would be that latency for any length, and would say nothing.
std::vector<LowerBound> lower_bounds(const Collective& collective, const Network& network);

// Max-min fair shares level by level for the first segment, a steady period for the others: says how the time is spent,
// and how long it is where the exact solution takes more than some 10 ms (options.most_exact_work). Where the
// iterations of loops come to more than options.most_steps steps of all ranks, some of the iterations stand for all
// (simulate/flow/sampling.hpp).
Result<Prediction> predict_flow(const ProgramSet& schedule, const Network& network, const SimulateOptions& options,
                                Seconds bound);

inline constexpr std::int32_t exact_rank_limit = 512;

// The fluid solution without approximations, the golden copy of `flow`: every step of every segment is an event, and
// the fair shares are solved anew whenever a transfer or a reduction starts or ends. For machines of some hundred
// nodes. Noise lengthens compute steps, reductions and the issue of messages; what shares the rank's processor with
// them does not change which events they meet.
Result<Prediction> predict_exact(const ProgramSet& schedule, const Network& network,
                                 const std::optional<Noise>& noise = {});

} // namespace kumihimo::simulation
