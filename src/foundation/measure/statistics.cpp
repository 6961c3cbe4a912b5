#include "measure/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

namespace kumihimo::measure {
namespace {

constexpr double z = 1.959963984540054; // the normal distribution's quantile of 1 - (1 - confidence) / 2
constexpr std::int64_t most_exact = 200;

// Grows k while the ranks (k, n + 1 - k) keep their coverage, 1 - 2 P(B < k) with B binomial(n, 1/2).
MedianRanks exact_ranks(std::int64_t n) {
  double term = std::ldexp(1.0, static_cast<int>(-n)); // P(B = k)
  double below = term;                                 // P(B <= k), so of B < k + 1
  MedianRanks best{1, n, std::max(0.0, 1.0 - 2.0 * below)};
  for (std::int64_t k = 1; 2 * (k + 1) <= n; ++k) {
    term *= static_cast<double>(n - k + 1) / static_cast<double>(k);
    below += term;
    const double coverage = 1.0 - 2.0 * below;
    if (coverage < confidence) break;
    best = {k + 1, n - k, coverage};
  }
  return best;
}

MedianRanks approximate_ranks(std::int64_t n) {
  const double count = static_cast<double>(n), reach = z * std::sqrt(count);
  return {static_cast<std::int64_t>(std::floor((count - reach) / 2)),
          static_cast<std::int64_t>(std::ceil(1 + (count + reach) / 2)), confidence};
}

// P(B = k) with B binomial(n, p).
double binomial(std::int64_t n, std::int64_t k, double p) {
  const double of = static_cast<double>(n), taken = static_cast<double>(k), rest = of - taken;
  return std::exp(std::lgamma(of + 1) - std::lgamma(taken + 1) - std::lgamma(rest + 1) + taken * std::log(p) +
                  rest * std::log1p(-p));
}

std::int64_t count_outliers(std::span<const double> sorted) {
  const double first = quantile(sorted, 0.25), third = quantile(sorted, 0.75), fence = 1.5 * (third - first);
  return std::ranges::count_if(sorted, [&](double x) { return x < first - fence || x > third + fence; });
}

} // namespace

MedianRanks median_ranks(std::int64_t n) {
  assert(n >= 1);
  return n <= most_exact ? exact_ranks(n) : approximate_ranks(n);
}

double quantile(std::span<const double> sorted, double probability) {
  assert(!sorted.empty() && probability >= 0.0 && probability <= 1.0);
  const double position = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

double median(std::span<const double> sorted) { return quantile(sorted, 0.5); }

Interval median_interval(std::span<const double> sorted) {
  const MedianRanks ranks = median_ranks(static_cast<std::int64_t>(sorted.size()));
  return {sorted[static_cast<std::size_t>(ranks.low - 1)], sorted[static_cast<std::size_t>(ranks.high - 1)]};
}

// Grows `low` while P(B < low) stays below the tail, and lowers `high` while P(B >= high) does.
QuantileRanks quantile_ranks(std::int64_t n, double probability) {
  assert(n >= 1 && probability > 0.0 && probability < 1.0);
  constexpr double tail = (1 - confidence) / 2;
  QuantileRanks ranks;
  double below = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    below += binomial(n, k, probability); // P(B <= k), so of B < k + 1
    if (below > tail) break;
    ranks.low = k + 1;
  }
  double from = 0;
  for (std::int64_t k = n; k > 0; --k) {
    from += binomial(n, k, probability);
    if (from > tail) break;
    ranks.high = k;
  }
  return ranks;
}

Interval quantile_interval(std::span<const double> sorted, double probability) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const QuantileRanks ranks = quantile_ranks(static_cast<std::int64_t>(sorted.size()), probability);
  return {ranks.low > 0 ? sorted[static_cast<std::size_t>(ranks.low - 1)] : -infinity,
          ranks.high > 0 ? sorted[static_cast<std::size_t>(ranks.high - 1)] : infinity};
}

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

Comparison compare(std::span<const LaunchMedians> launches) {
  assert(!launches.empty());
  std::vector<double> ratios;
  for (const LaunchMedians& launch : launches) {
    assert(launch.ours > 0.0 && launch.theirs > 0.0);
    ratios.push_back(launch.ours / launch.theirs);
  }
  std::ranges::sort(ratios);
  const auto n = static_cast<std::int64_t>(ratios.size());
  return {n, median(ratios), median_interval(ratios), median_ranks(n).coverage};
}

} // namespace kumihimo::measure
