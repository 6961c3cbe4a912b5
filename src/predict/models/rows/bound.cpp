// A lower bound: no schedule of the collective is faster.
#include "models/rows/on_schedules.hpp"

namespace kumihimo::models {

namespace {

Result<Ran> run_bound(const Question& question, const Run&) {
  const auto& [collective, variant, parameters, schedule] = std::get<CollectiveCase>(question.subject);
  const Place& place = question.place;
  SubjectPrograms programs;
  if (variant || schedule)
    programs = TRY(programs_of(question));
  else if (Status s = check_collective(collective, place.rank_space(collective.ranks)); !s)
    return s.error();
  SimulateOptions options;
  options.scalar_reduction = place.scalar_reduction;
  auto found = TRY(simulate_bound(collective, *place.job, place.placement, options));
  return Ran{with_schedule(begin_prediction("bound", programs), std::move(found))};
}

} // namespace

Model bound_model() {
  return {
      .name = "bound",
      .summary = "a lower bound of all algorithms",
      .fidelity = "latency, bandwidth, injection, bisection and reduction of any schedule; reached by few",
      .accepts = {{"collective", {"given", "order", "placement", "no_simd"}}},
      .run = run_bound,
  };
}

} // namespace kumihimo::models
