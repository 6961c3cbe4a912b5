#include "models/doubt.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace kumihimo::models {

namespace {

constexpr double small = 0.2;

// Three digits in the unit that suits: "152 ms".
std::string text_of_seconds(double seconds) {
  constexpr std::array<std::pair<const char*, double>, 3> units{{{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}}};
  const auto digits = [](double number) {
    return number >= 99.95 ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}", number);
  };
  for (const auto& [unit, factor] : units)
    if (seconds >= factor) return fmt::format("{} {}", digits(seconds / factor), unit);
  return fmt::format("{} ns", digits(seconds / 1e-9));
}

std::string doubt_of(const Model& model, double seconds, const Prediction& by_flow) {
  const SchedulePrediction& flow = *by_flow.schedule;
  if (flow.seconds.value <= 0) return {};
  const double longer = flow.accuracy.empty() ? 0 : flow.too_long, shorter = flow.accuracy.empty() ? 0 : flow.too_short;
  const double ratio = seconds / flow.seconds.value;
  const double too_long = std::max(0.0, ratio * (1 + longer) - 1), too_short = std::max(0.0, 1 - ratio * (1 - shorter));
  if (std::max(too_long, too_short) <= small) return {};
  std::string why;
  if (std::abs(ratio - 1) > small) why = fmt::format("{}; ", ratio > 1 ? model.too_long : model.too_short);
  why += fmt::format("flow says {}", text_of_seconds(flow.seconds.value));
  if (!flow.accuracy.empty())
    why += fmt::format("; which is in doubt itself: {}", flow.accuracy.substr(0, flow.accuracy.rfind(": ")));
  const std::string longest = too_long > 1 ? fmt::format("{:.0f} times the exact time", std::ceil(1 + too_long))
                                           : fmt::format("{:.0f} % too long", std::ceil(100 * too_long));
  return fmt::format("{}: up to {}, up to {:.0f} % too short", why, longest, std::ceil(100 * too_short));
}

} // namespace

void add_doubts(const Model& model, const Question& question, Prediction& prediction) {
  const auto add = [&](const std::string& doubt) {
    prediction.accuracy += fmt::format("{}{}", prediction.accuracy.empty() ? "" : "; ", doubt);
  };
  if (!model.below_bound.empty() && prediction.seconds < prediction.bound_seconds())
    add(fmt::format("{}: it is below the bound ({})", model.below_bound, prediction.bound_limiting));
  if (kind_of(question.subject) >= SubjectKind::graphs || !question.place.job || question.options.loggops ||
      !question.disturbance.background.jobs.empty())
    return;
  const auto flow = flow_model().run(question, {std::nullopt});
  if (!flow) return; // flow refuses them: also programs that deadlock in its way of taking turns alone
  const std::string doubt = doubt_of(model, prediction.seconds_without_noise(), flow->prediction);
  if (!doubt.empty()) add(doubt);
}

} // namespace kumihimo::models
