#include "measure/launches.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace kumihimo::measure {

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
