#include "simulate/exact/exact.hpp"

#include "simulate/exact/events.hpp"

#include <fmt/format.h>

namespace kumihimo::simulation {

Result<Prediction> predict_exact(const ProgramSet& schedule, const Network& network) {
  if (schedule.ranks() > exact_rank_limit)
    return bad_input(fmt::format("expected at most {} ranks for the exact model", exact_rank_limit),
                     fmt::format("{}", schedule.ranks()), "use the flow model");
  Events events(schedule, network);
  return events.run();
}

} // namespace kumihimo::simulation
