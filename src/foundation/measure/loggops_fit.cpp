#include "measure/loggops_fit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kumihimo::measure {
namespace {

struct FitPoint {
  double x = 0, y = 0;
};
struct FittedLine {
  double at_zero = 0, slope = 0;
};

constexpr double clock_tick = 1e-9; // seconds

// Least squares of (line - y) / y. Neither of its numbers is below 0. A value below the clock's tick is the difference
// of two times of which other programs made the first too long: it is left out, since it would weigh more than all
// others.
FittedLine fitted(const std::vector<FitPoint>& points) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const auto& [x, y] : points) {
    if (y < clock_tick) continue;
    const double weight = 1 / (y * y);
    w += weight, wx += weight * x, wy += weight * y, wxx += weight * x * x, wxy += weight * x * y;
  }
  if (w == 0) return {0, 0};
  const double determinant = w * wxx - wx * wx;
  const double slope = determinant > 1e-12 * w * wxx ? (w * wxy - wx * wy) / determinant : 0;
  const double at_zero = (wy - slope * wx) / w;
  if (slope <= 0) return {std::max(0.0, wy / w), 0};
  if (at_zero < 0) return {0, wxy / wxx};
  return {at_zero, slope};
}

} // namespace

LogGops fit_loggops(std::span<const Trains> trains, std::int32_t messages, std::int64_t eager) {
  std::vector<FitPoint> gaps, longer, overheads;
  for (const Trains& each : trains) {
    const double x = static_cast<double>(each.bytes - 1);
    (gaps.empty() || each.bytes <= eager ? gaps : longer).push_back({x, each.gap(messages)});
    if (overheads.empty() || each.bytes <= eager) overheads.push_back({x, each.overhead(messages)});
  }
  const FittedLine gap = fitted(gaps), overhead = fitted(overheads);
  LogGops found{.L = 0, .o = overhead.at_zero, .g = gap.at_zero, .G = gap.slope, .O = 0};
  if (const double slope = fitted(longer).slope; slope > 0) found.G = slope;
  found.O = std::min(overhead.slope, found.G); // of short messages alone, whose steps can make it steeper
  const Trains& least = trains.front();
  found.L = std::max(0.0, least.one / 2 - 2 * found.o - static_cast<double>(least.bytes - 1) * found.G);
  std::vector<double> agreeing, deviations;
  for (const Trains& each : trains)
    if (each.bytes > eager) {
      const double model = found.L + 2 * found.o + static_cast<double>(each.bytes - 1) * found.G;
      agreeing.push_back(std::max(0.0, each.one / 2 - model));
    }
  std::sort(agreeing.begin(), agreeing.end());
  if (!agreeing.empty()) found.R = agreeing[agreeing.size() / 2];
  for (const Trains& each : trains) {
    const double longer_by = each.bytes > eager ? found.R : 0;
    const double model = 2 * (found.L + 2 * found.o + static_cast<double>(each.bytes - 1) * found.G + longer_by);
    deviations.push_back(std::abs(model / each.one - 1));
  }
  std::sort(deviations.begin(), deviations.end());
  found.median_deviation = deviations[deviations.size() / 2];
  found.largest_deviation = deviations.back();
  return found;
}

} // namespace kumihimo::measure
