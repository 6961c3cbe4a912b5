#include "measure/detours.hpp"

#include <algorithm>
#include <cstddef>

namespace kumihimo::measure {

FixedWork find_detours(std::span<const std::int64_t> stamps) {
  FixedWork found;
  if (stamps.size() < 2) return found;
  std::vector<std::int64_t> lengths;
  lengths.reserve(stamps.size() - 1);
  for (std::size_t i = 1; i < stamps.size(); ++i) lengths.push_back(stamps[i] - stamps[i - 1]);
  // Not the minimum: a piece beside which the clock was set would make detours of all others.
  const auto quantum = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 100);
  std::nth_element(lengths.begin(), quantum, lengths.end());
  found.quantum_ns = *quantum;
  found.duration_ns = stamps.back() - stamps.front();
  found.pieces = static_cast<std::int64_t>(lengths.size());
  const auto threshold = static_cast<std::int64_t>(detour_share * static_cast<double>(found.quantum_ns));
  for (std::size_t i = 1; i < stamps.size(); ++i) {
    const std::int64_t beyond = stamps[i] - stamps[i - 1] - found.quantum_ns;
    if (beyond > threshold) found.detours.push_back({stamps[i - 1] - stamps.front(), beyond});
  }
  return found;
}

} // namespace kumihimo::measure
