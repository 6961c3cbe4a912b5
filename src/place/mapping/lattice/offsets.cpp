#include "mapping/lattice/offsets.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t most_offsets = 4096; // of a graph that is no lattice there are more

// The shorter way from one coordinate to another; + of two equal ones.
std::int32_t step_between(Axis axis, std::int32_t from, std::int32_t to) {
  const std::int32_t step = to - from;
  if (!axis.wraps) return step;
  const std::int32_t forward = (step + axis.length) % axis.length;
  return 2 * forward <= axis.length ? forward : forward - axis.length;
}

// Whether the first step is forward: true for one of two opposite steps.
bool is_forward(const Coordinates& step) {
  for (const std::int32_t along : step)
    if (along != 0) return along > 0;
  return true;
}

// How many edges with this step the whole grid has.
double edges_with(const Shape& shape, const Coordinates& step) {
  double edges = shape.places();
  bool is_own_opposite = true;
  for (std::int32_t axis = 0; axis < shape.dimensions(); ++axis) {
    const auto [length, wraps] = shape.axes()[static_cast<std::size_t>(axis)];
    const std::int32_t along = std::abs(step[static_cast<std::size_t>(axis)]);
    if (!wraps) edges *= static_cast<double>(length - along) / length;
    is_own_opposite &= along == 0 || (wraps ? 2 * along == length : false);
  }
  return is_own_opposite ? edges / 2 : edges;
}

} // namespace

Lattice lattice_of(const TrafficGraph& graph, Shape shape, std::vector<std::int32_t> place_of_rank) {
  Lattice lattice{std::move(shape), std::move(place_of_rank), {}, false, false, 0};
  const auto axes = static_cast<std::size_t>(lattice.shape.dimensions());
  struct Sum {
    std::int64_t edges = 0, bytes = 0;
  };
  std::map<Coordinates, Sum> sums;
  std::vector<Coordinates> at;
  at.reserve(lattice.place_of_rank.size());
  for (const std::int32_t place : lattice.place_of_rank) at.push_back(lattice.shape.coordinates(place));
  double bytes = 0, near = 0;
  Coordinates step(axes), opposite(axes);
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
    for (const TrafficGraph::Edge& edge : graph.of(rank)) {
      if (edge.to < rank) continue;
      bool is_near = true;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        step[axis] = step_between(lattice.shape.axes()[axis], at[static_cast<std::size_t>(rank)][axis],
                                  at[static_cast<std::size_t>(edge.to)][axis]);
        is_near &= std::abs(step[axis]) <= 1;
        const auto [length, wraps] = lattice.shape.axes()[axis];
        opposite[axis] = wraps && 2 * step[axis] == length ? step[axis] : -step[axis];
      }
      bytes += static_cast<double>(edge.bytes);
      if (is_near) near += static_cast<double>(edge.bytes);
      const Coordinates& key = is_forward(step) ? step : opposite;
      if (auto known = sums.find(key); known != sums.end()) {
        ++known->second.edges, known->second.bytes += edge.bytes;
      } else if (sums.size() < most_offsets) {
        sums[key] = {1, edge.bytes};
      }
    }
  lattice.covered = bytes > 0 ? near / bytes : 0;
  for (const auto& [forward, sum] : sums) {
    const double share = static_cast<double>(sum.edges) / std::max(1.0, edges_with(lattice.shape, forward));
    if (share >= 0.5) lattice.offsets.push_back({forward, share, sum.bytes});
  }
  std::stable_sort(lattice.offsets.begin(), lattice.offsets.end(),
                   [](const Lattice::Offset& a, const Lattice::Offset& b) { return a.bytes > b.bytes; });
  return lattice;
}

} // namespace kumihimo::mapping
