// Long loops whose peers change with every iteration, such as the P - 1 rounds of a pairwise exchange: nothing proves
// that one iteration costs what another does, and to walk them all is P^2 messages. Some stand for all: drawn from the
// whole loop in strata (one of each, so that near and far peers are as frequent as in the loop), walked one after the
// other as the loop does, in several samples, whose spread gives the interval (Cochran, Sampling Techniques, 3rd ed.,
// 1977, chapters 2 and 5).
#pragma once

#include "simulate/flow/compiled.hpp"
#include "simulate/prediction.hpp"

#include <functional>
#include <optional>

namespace kumihimo::simulation {

// The one loop of every lane, not within another, that is sampled.
struct SampledLoop {
  std::int64_t iterations = 0, in_flight = 1;
};

// Nothing where a sample would not stand for the whole: several segments or phases, lanes with more than one such loop,
// or loops of different lengths.
std::optional<SampledLoop> sampled_loop(const Compiled& compiled);

// `walk` predicts what it is given. Everything in the prediction that grows with the loop is that of all iterations.
Result<Prediction> predict_sampled(Compiled& compiled, const SampledLoop& loop, double most_steps,
                                   const std::function<Result<Prediction>(const Compiled&)>& walk);

} // namespace kumihimo::simulation
