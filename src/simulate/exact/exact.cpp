#include "simulate/exact/exact.hpp"

#include "simulate/exact/events.hpp"

#include <fmt/format.h>

namespace kumihimo::simulation {

Result<Prediction> predict_exact(const ProgramSet& schedule, const Network& network) {
  if (schedule.ranks() > exact_rank_limit)
    return wrong_value(fmt::format("the exact model takes at most {} ranks", exact_rank_limit), schedule.ranks(),
                       "use the flow model");
  Events events(schedule, network);
  return events.run();
}

} // namespace kumihimo::simulation
