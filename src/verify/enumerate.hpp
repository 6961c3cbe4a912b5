// Walks over the values of loop variables, when symbols do not decide: all of them up to a budget, else corners and a
// spread of others.
#pragma once

#include "base/expression.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::verify {

// fn(values) until it returns false. Returns false if fn saw only a sample, and true otherwise.
template <class F>
bool for_values(std::span<const std::int64_t> trips, std::int64_t budget, F&& fn) {
  std::int64_t all = 1;
  for (const std::int64_t t : trips) {
    if (t <= 0) return true;
    all = t > budget / all ? budget + 1 : all * t;
  }
  std::vector<std::int64_t> values(trips.size(), 0);
  if (all > budget) {
    // The first and last values of all, and the diagonal between.
    for (std::int64_t k = 0; k <= budget; ++k) {
      for (std::size_t d = 0; d < trips.size(); ++d)
        values[d] = static_cast<std::int64_t>(static_cast<double>(trips[d] - 1) * static_cast<double>(k) /
                                              static_cast<double>(budget));
      if (!fn(std::span<const std::int64_t>(values))) return false;
    }
    return false;
  }
  for (;;) {
    if (!fn(std::span<const std::int64_t>(values))) return true;
    std::size_t d = trips.size();
    while (d > 0 && ++values[d - 1] == trips[d - 1]) values[--d] = 0;
    if (d == 0) return true;
  }
}

// Trips of 1 for the loops that none of the expressions depends on: their iterations are all alike.
template <class... E>
std::vector<std::int64_t> shortened(std::span<const std::int64_t> trips, const E&... expressions) {
  std::vector<std::int64_t> out(trips.begin(), trips.end());
  for (std::size_t d = 0; d < out.size(); ++d) {
    const Variable v{static_cast<std::int32_t>(d)};
    if (!(expressions.depends_on(v) || ...)) out[d] = std::min<std::int64_t>(out[d], 1);
  }
  return out;
}

} // namespace kumihimo::verify
