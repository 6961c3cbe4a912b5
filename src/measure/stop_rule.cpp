#include "measure/stop_rule.hpp"

#include "measure/summary.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::measure {
namespace {

bool is_precise(std::span<const double> samples, double relative_error) {
  const Summary summary = summarise(samples);
  const double reach = relative_error * std::abs(summary.median);
  return summary.coverage >= confidence && summary.median - summary.median_interval.low <= reach &&
         summary.median_interval.high - summary.median <= reach;
}

} // namespace

StopDecision decide(const StopRule& rule, std::span<const double> samples) {
  const auto n = static_cast<std::int64_t>(samples.size());
  const bool due = n >= rule.at_least && (n - rule.at_least) % std::max<std::int64_t>(rule.check_every, 1) == 0;
  if (due && n > 0 && is_precise(samples, rule.relative_error)) return StopDecision::precise_enough;
  return n >= rule.at_most ? StopDecision::too_many : StopDecision::sample_on;
}

} // namespace kumihimo::measure
