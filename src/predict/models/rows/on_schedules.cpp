#include "models/rows/on_schedules.hpp"

#include <utility>

namespace kumihimo::models {

Prediction with_schedule(Prediction prediction, SchedulePrediction found) {
  prediction.seconds = found.seconds.value;
  prediction.limiting = found.limiting;
  prediction.accuracy = found.accuracy;
  prediction.bounds = found.bounds;
  prediction.link_bytes = std::exchange(found.link_bytes, {});
  prediction.schedule = std::move(found);
  return prediction;
}

Result<Ran> run_simulate(const Question& question, const SimulateOptions& options) {
  const SubjectPrograms programs = TRY(programs_of(question));
  const Place& place = question.place;
  auto found = programs.schedule ? simulate(*programs.schedule, *place.job, place.placement, options)
                                 : simulate(*programs.set, *place.job, place.placement, options);
  if (!found) return found.error();
  return Ran{with_schedule(begin_prediction(name_of(options.model), programs), *std::move(found))};
}

} // namespace kumihimo::models
