// Noise of the operating system by the benchmark FWQ (fixed work quantum): the same piece of work again and again; what
// a piece takes beyond the time that the work needs was taken by something else (M. Sottile, R. Minnich, Analysis of
// Microbenchmarks for Performance Tuning of Clusters, Cluster 2004).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::measure {

// Nanoseconds. `start`: from the start of the series to that of the piece of work which was interrupted.
struct Detour {
  std::int64_t start = 0, length = 0;
  bool operator==(const Detour&) const = default;
};

struct FixedWork {
  std::int64_t quantum_ns = 0;  // of a piece that nothing interrupts: the first percentile
  std::int64_t duration_ns = 0; // of the series
  std::int64_t pieces = 0;
  std::vector<Detour> detours;
};

// A piece is a detour if it takes more than this share of the quantum beyond it.
inline constexpr double detour_share = 0.1;

// `stamps`: the times in nanoseconds at which pieces of work began, and the end of the last one; ascending. Fewer than
// two: no pieces. O(n).
FixedWork find_detours(std::span<const std::int64_t> stamps);

} // namespace kumihimo::measure
