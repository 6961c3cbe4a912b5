#include "measure/summary.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace kumihimo::measure {
namespace {

std::int64_t count_outliers(std::span<const double> sorted) {
  const double first = quantile(sorted, 0.25), third = quantile(sorted, 0.75), fence = 1.5 * (third - first);
  return std::ranges::count_if(sorted, [&](double x) { return x < first - fence || x > third + fence; });
}

} // namespace

Summary summarise(std::span<const double> samples) {
  assert(!samples.empty() && std::ranges::all_of(samples, [](double x) { return std::isfinite(x); }));
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<std::int64_t>(sorted.size());
  return {.samples = n,
          .median = median(sorted),
          .median_interval = median_interval(sorted),
          .coverage = median_ranks(n).coverage,
          .p10 = quantile(sorted, 0.10),
          .p90 = quantile(sorted, 0.90),
          .p99 = quantile(sorted, 0.99),
          .smallest = sorted.front(),
          .largest = sorted.back(),
          .outliers = count_outliers(sorted)};
}

double geometric_mean(std::span<const double> values) {
  assert(!values.empty() && std::ranges::all_of(values, [](double x) { return x > 0.0; }));
  double logarithms = 0.0; // a product would overflow
  for (double x : values) logarithms += std::log(x);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

} // namespace kumihimo::measure
