#include "models/doubt.hpp"
#include "models/model.hpp"
#include "models/schedules.hpp"
#include "simulate/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kumihimo::models {

std::span<const Model> all_models() {
  static const std::vector<Model> models{
#define MODEL(name) name##_model(),
#include "models/models.def"
#undef MODEL
  };
  return models;
}

Result<const Model*> find_model(std::string_view name) {
  std::string names;
  for (const Model& model : all_models()) {
    if (model.name == name) return &model;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", model.name);
  }
  return wrong_value(fmt::format("--model must be one of {}", names), fmt::format("'{}'", name));
}

double Prediction::bound_seconds() const {
  double highest = 0;
  for (const LowerBound& each : bounds) highest = std::max(highest, each.seconds.value);
  return highest;
}

namespace {

std::string_view name_of(SubjectKind kind) {
  return std::array{"collective", "programs", "goal", "recording"}[static_cast<std::size_t>(kind)];
}

Status check_accepted(const Model& model, const Question& question) {
  const std::string_view kind = name_of(kind_of(question.subject));
  if (std::ranges::none_of(model.accepts, [&](const Accepted& each) { return each.subject == kind; }))
    return wrong_value(fmt::format("the model {} does not accept the subject", model.name), kind);
  if (model.needs_machine && !question.place.job)
    return missing("the machine", fmt::format("the model {} needs one", model.name));
  return Nothing{};
}

// Of deaths: when each is, of a subject that takes `seconds` without them.
Result<std::vector<hosts::NodeDeath>> times_of(const Question& question, double seconds) {
  std::vector<hosts::NodeDeath> times;
  const std::vector<std::int32_t> nodes = TRY(question.place.node_of_rank(ranks_of(question.subject)));
  for (const Death& death : question.disturbance.deaths) {
    if (std::ranges::find(nodes, death.node) == nodes.end())
      return wrong_value(fmt::format("--dies must name a node that has ranks, one of {} to {}", std::ranges::min(nodes),
                                     std::ranges::max(nodes)),
                         death.node);
    const double at = death.seconds ? *death.seconds : death.share * seconds;
    times.push_back({death.node, static_cast<goal::Time>(std::llround(at * 1e12))});
  }
  return times;
}

Status add_faults(const Model& model, const Question& question, Prediction& prediction) {
  const auto times = TRY(times_of(question, prediction.seconds));
  auto ran = TRY(model.run(question, {question.disturbance.noise, times, question.options.timeline}));
  Faults faults;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Death& asked = question.disturbance.deaths[i];
    faults.dies.push_back({times[i].node, seconds_of(times[i].time),
                           asked.seconds ? std::optional<double>() : std::optional(asked.share)});
  }
  faults.aftermath = std::move(ran.aftermath).value();
  prediction.faults = std::move(faults);
  prediction.timeline = std::move(ran.prediction.timeline);
  prediction.timeline_left_out = ran.prediction.timeline_left_out;
  return Nothing{};
}

Status add_bounds(const Question& question, Prediction& prediction) {
  const auto* of = std::get_if<CollectiveCase>(&question.subject);
  if (!of || !question.place.job || prediction.schedule) return Nothing{};
  SimulateOptions options;
  options.scalar_reduction = question.place.scalar_reduction;
  const auto bound = TRY(simulate_bound(of->collective, *question.place.job, question.place.placement, options));
  prediction.bounds = bound.bounds;
  prediction.bound_limiting = bound.limiting;
  return Nothing{};
}

} // namespace

Result<Prediction> predict(const Model& model, const Question& question) {
  if (Status s = check_accepted(model, question); !s) return s.error();
  const Disturbance& disturbance = question.disturbance;
  const bool timeline = question.options.timeline && disturbance.deaths.empty();
  Prediction prediction = TRY(model.run(question, {disturbance.noise, {}, timeline})).prediction;
  if (disturbance.noise && !question.options.noise_alone && kind_of(question.subject) != SubjectKind::recording) {
    const double without = TRY(model.run(question, {std::nullopt})).prediction.seconds;
    prediction.noise = {without, without > 0 ? prediction.seconds / without : 1};
  }
  if (Status s = add_bounds(question, prediction); !s) return s.error();
  if (!model.too_short.empty()) add_doubts(model, question, prediction);
  if (!disturbance.deaths.empty())
    if (Status s = add_faults(model, question, prediction); !s) return s.error();
  return prediction;
}

} // namespace kumihimo::models
