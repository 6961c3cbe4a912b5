#include "models/rows/fluid_graphs.hpp"

#include "models/rows/on_graphs.hpp"

namespace kumihimo::models {

Result<Ran> run_fluid(std::string_view model, const Question& question, const Run& run,
                      const fluid::Tolerance& tolerance) {
  const Place& place = question.place;
  if (const auto* recording = std::get_if<const replay::ReplayProgram*>(&question.subject);
      recording && run.deaths.empty()) {
    const replay::FluidNetwork network{scaled_job(question), place.placement, run.noise, tolerance};
    const auto& options = question.options;
    auto times = TRY(options.ideal_network ? replay::ideal_network_times(**recording, network, options.times)
                                           : replay::times_of(**recording, network, options.times));
    Prediction prediction = of_times(model, std::move(times));
    prediction.link_classes = prediction.times->link_classes;
    return Ran{std::move(prediction)};
  }
  const SubjectGraphs graphs = TRY(graphs_of(question, {}, {}));
  fluid::FluidOptions options;
  options.noise = run.noise, options.tolerance = tolerance;
  options.deaths = run.deaths;
  auto outcome = TRY(fluid::run(*place.job, graphs.graphs(), place.placement, options));
  Prediction prediction = begin_prediction(model, {});
  prediction.seconds = seconds_of(outcome.last);
  prediction.run = graph_run(outcome, outcome.messages);
  prediction.link_classes = std::move(outcome.classes);
  return Ran{std::move(prediction), std::move(outcome.aftermath)};
}

} // namespace kumihimo::models
