// Predicts how long a schedule takes on a machine, by models of several fidelities.
#pragma once

#include "base/cost_rates.hpp"
#include "base/result.hpp"
#include "machine/job.hpp"
#include "schedule/schedule.hpp"
#include "simulate/options.hpp"

#include <optional>

namespace kumihimo {

// `placement`: none for block order, consecutive ranks in consecutive slots. Errors: more ranks than slots; a placement
// in the slots of another job, or of another number of ranks; a schedule whose messages do not match; one too large for
// `exact`.
// Programs that are no collective: without bounds.
Result<SchedulePrediction> simulate(const ProgramSet& set, const Job& job,
                                    const std::optional<Placement>& placement = {},
                                    const SimulateOptions& options = {});
Result<SchedulePrediction> simulate(const Schedule& schedule, const Job& job,
                                    const std::optional<Placement>& placement = {},
                                    const SimulateOptions& options = {});

// The bounds alone, for a collective without a schedule.
Result<SchedulePrediction> simulate_bound(const Collective& collective, const Job& job,
                                          const std::optional<Placement>& placement = {},
                                          const SimulateOptions& options = {});

// The numbers of closed forms: a message between neighbours, a byte on a link or through an engine, whichever is
// slower.
CostRates cost_rates(const Machine& machine, bool scalar_reduction = false);

// What a closed form says, beside the bounds.
Result<SchedulePrediction> simulate_cost(Seconds seconds, const Collective& collective, const Job& job,
                                         const std::optional<Placement>& placement = {},
                                         const SimulateOptions& options = {});

} // namespace kumihimo
