#include "measure/order_statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

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

} // namespace kumihimo::measure
