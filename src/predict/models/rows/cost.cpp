// The closed form of an algorithm's row (collectives/formula.hpp).
#include "models/rows/on_schedules.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kumihimo::models {

namespace {

Result<Ran> run_cost(const Question& question, const Run&) {
  const auto& [collective, variant, parameters, schedule] = std::get<CollectiveCase>(question.subject);
  const Place& place = question.place;
  const SubjectPrograms programs = TRY(programs_of(question));
  if (!variant) return missing("the algorithm", "name one");
  const Cost& cost = variant->cost;
  if (!cost.time)
    return not_applicable(fmt::format("{} has no closed form: its time is {}", variant->name, cost.text()), {},
                          "use --model flow");
  SimulateOptions options;
  options.scalar_reduction = place.scalar_reduction;
  const RankSpace space = place.rank_space(collective.ranks);
  const Parameters complete = variant->with_defaults(parameters);
  const CostCase at{collective, space, complete, programs.schedule->segments.count,
                    cost_rates(place.job->machine, place.scalar_reduction)};
  const double seconds = cost.seconds(at);
  if (!std::isfinite(seconds) || seconds < 0)
    return not_applicable(fmt::format("{} has no closed form of this case: {}", variant->name, cost.text()), {},
                          "use --model flow");
  auto found = TRY(simulate_cost(Seconds{seconds}, collective, *place.job, place.placement, options));
  if (!cost.holds(at)) found.accuracy = fmt::format("its closed form ({}) does not hold for this case", cost.text());
  return Ran{with_schedule(begin_prediction("cost", programs), std::move(found))};
}

} // namespace

Model cost_model() {
  return {
      .name = "cost",
      .summary = "the closed form of the algorithm",
      .fidelity = "α + nβ a message and γ a reduced byte, as in the literature; no topology, each message alone",
      .accepts = {{"collective", {"given", "order", "placement", "no_simd"}}},
      .run = run_cost,
  };
}

} // namespace kumihimo::models
