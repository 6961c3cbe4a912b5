// The models of a prediction, each by itself: bounds, flow, exact.
#pragma once

#include "base/result.hpp"
#include "fluid/resources.hpp"
#include "program/program_set.hpp"
#include "schedule/collective.hpp"
#include "simulate/options.hpp"

namespace kumihimo::simulation {

// Times below which no schedule of a collective can be on a machine. Reductions combine data on the way, nothing else
// does: a message is not multiplied by the network. Its own engine, where it has one, is another way for a vector that
// it takes in one call. Longer vectors in many calls at once are left out: the machine files know a call's latency and
// no rate of calls, so that a bound over them would be that latency for any length, and would say nothing.
std::vector<LowerBound> lower_bounds(const Collective& collective, const NetworkPaths& network);

// Max-min fair shares level by level for the first segment, a steady period for the others: says how the time is spent,
// and how long it is where the exact solution takes more than some 10 ms (options.most_exact_work). Where the
// iterations of loops come to more than options.most_steps steps of all ranks, some of the iterations stand for all
// (simulate/flow/sampling.hpp).
Result<SchedulePrediction> predict_flow(const ProgramSet& schedule, const NetworkPaths& network,
                                        const SimulateOptions& options, Seconds bound);

inline constexpr std::int32_t exact_rank_limit = 512;

// The fluid solution without approximations, the golden copy of `flow`: every step of every segment is an operation of
// a graph, made as its rank comes to it (goal/program_segments.hpp), and the fair shares are solved anew whenever a
// transfer, a copy, a sum or a computation starts or ends (fluid/network.hpp). For machines of some hundred nodes.
// Noise lengthens computations, sums, and what interfaces do for messages; what shares the rank's processor with them
// does not change which detours they meet. Refused: more than 13 days; more than 2^25 operations under way.
Result<SchedulePrediction> predict_exact(const ProgramSet& schedule, const NetworkPaths& network,
                                         const std::optional<goal::NoiseModel>& noise = {});

} // namespace kumihimo::simulation
