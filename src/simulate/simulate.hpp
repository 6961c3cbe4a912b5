// One question, several fidelities: how long does this schedule take on that machine?
#pragma once

#include "base/cost_rates.hpp"
#include "base/result.hpp"
#include "machine/job.hpp"
#include "schedule/schedule.hpp"
#include "simulate/prediction.hpp"

#include <optional>

namespace kumihimo {

struct SimulateOptions {
  Model model = Model::flow;
  bool scalar_reduction = false; // reduce at the rate without SIMD
  bool keep_link_bytes = false;  // fill Prediction::link_bytes
  // flow: of loops whose peers change with every iteration, all steps of all ranks that are walked; of longer ones a
  // sample of the iterations stands for all, and Prediction::sampled says so. Where symmetry is proven one rank's steps
  // count for all its images (Prediction::alike), and six times as many are walked sooner than a sample is drawn.
  double most_steps = 3e6;
  // flow: the steps of all ranks and segments, times those in flight at once, up to which the time is the exact
  // solution's. It is found in some 10 ms then.
  double most_exact_work = 1e6;
};

// `placement`: none for block order, consecutive ranks in consecutive slots. Errors: more ranks than slots; a placement
// in the slots of another job, or of another number of ranks; a schedule whose messages do not match; one too large for
// `exact`.
// Programs that are no collective: without bounds.
Result<Prediction> simulate(const ProgramSet& set, const Job& job, const std::optional<Placement>& placement = {},
                            const SimulateOptions& options = {});
Result<Prediction> simulate(const Schedule& schedule, const Job& job, const std::optional<Placement>& placement = {},
                            const SimulateOptions& options = {});

// The bounds alone, for a question without a schedule.
Result<Prediction> simulate_bound(const Collective& collective, const Job& job,
                                  const std::optional<Placement>& placement = {}, const SimulateOptions& options = {});

// The numbers of closed forms: a message between neighbours, a byte on a link or through an engine, whichever is
// slower.
CostRates cost_rates(const Machine& machine, bool scalar_reduction = false);

// What a closed form says, beside the bounds.
Result<Prediction> simulate_cost(Seconds seconds, const Collective& collective, const Job& job,
                                 const std::optional<Placement>& placement = {}, const SimulateOptions& options = {});

} // namespace kumihimo
