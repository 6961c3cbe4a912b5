// Samples of long loops whose peers change with every iteration, such as the P - 1 rounds of a pairwise exchange.
// Nothing proves that all iterations cost the same, and to walk all of them is P^2 messages. So some iterations are
// drawn from each loop in strata, one of each stratum. Then near and far peers are as frequent as in the loop. The
// iterations drawn are walked in sequence or in flight as in the loop. Several samples are walked, and their spread
// gives the interval (Cochran, Sampling Techniques, 3rd ed., 1977, chapters 2 and 5). The walk multiplies each
// iteration by the number of iterations that it stands for (LoopSample). A lane may have several such loops, one after
// another, and lanes may follow each other.
#pragma once

#include "simulate/flow/compiled.hpp"
#include "simulate/prediction.hpp"

#include <functional>

namespace kumihimo::simulation {

// The n-th long loop of a lane, not within another, at all the ranks that have the lane.
struct SampledLoop {
  std::int64_t iterations = 0, in_flight = 1;
  std::int64_t neighbours = 1; // in flight, of this loop and of those that start together with it: all walk the same
  double steps = 0;            // of one iteration, at all ranks
  std::vector<std::uint32_t> nodes;
  std::int64_t run = 1, strata = 1; // walked in a sample: a run of neighbouring iterations in each stratum
  std::int64_t walked() const { return run * strata; }
};

struct Sampling {
  std::int64_t samples = 0;
  double quantile = 0;   // Student's, 97.5 %, with samples - 1 degrees of freedom
  bool mirrored = false; // the last iterations that are walked are as far from the end as the first from the beginning
  std::vector<SampledLoop> loops;
};

// Loops to sample so that at most `most_steps` steps are walked, if a sample can be so small. No loops if a sample
// would not stand for the whole, or would hardly be shorter: several segments; loops of different lengths at different
// ranks; short loops.
Sampling plan_sampling(const Compiled& compiled, double most_steps);

// `walk` predicts what it is given. Everything in the prediction that grows with the loops is the mean over the
// samples, each stretched to all iterations; what limits it is left to the caller. The interval does not go below
// `bound`.
Result<SchedulePrediction> predict_sampled(Compiled compiled, const Sampling& sampling, Seconds bound,
                                           const std::function<Result<SchedulePrediction>(const Compiled&)>& walk);

} // namespace kumihimo::simulation
