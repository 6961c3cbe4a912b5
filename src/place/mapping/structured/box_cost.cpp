#include "mapping/structured/box_cost.hpp"

#include <algorithm>

namespace kumihimo::mapping {

CoordinatesOfRanks coordinates_in(const Box& box, std::span<const std::int32_t> place_of_rank) {
  CoordinatesOfRanks coordinates(box.axes.size());
  std::int32_t stride = 1;
  for (std::size_t axis = box.axes.size(); axis-- > 0; stride *= box.axes[axis].length) {
    coordinates[axis].reserve(place_of_rank.size());
    for (const std::int32_t place : place_of_rank) coordinates[axis].push_back(place / stride % box.axes[axis].length);
  }
  return coordinates;
}

std::vector<std::int32_t> places_in(const Box& box, const CoordinatesOfRanks& coordinates) {
  std::vector<std::int32_t> places(coordinates.front().size(), 0);
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis)
    for (std::size_t rank = 0; rank < places.size(); ++rank)
      places[rank] = places[rank] * box.axes[axis].length + coordinates[axis][rank];
  return places;
}

Assignment assignment_in(const Box& box, const MappingHost& host, const CoordinatesOfRanks& coordinates) {
  std::vector<std::int32_t> slots = places_in(box, coordinates);
  for (std::int32_t& place : slots) place = box.slot_of_place[static_cast<std::size_t>(place)];
  return Assignment::of_slots(std::move(slots), host.size());
}

std::vector<WeighedPair> heavy_pairs(const TrafficGraph& graph, double share) {
  std::vector<WeighedPair> pairs;
  pairs.reserve(graph.edges.size() / 2);
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
    for (const TrafficGraph::Edge& edge : graph.of(rank))
      if (edge.to > rank) pairs.push_back({rank, edge.to, edge.bytes});
  std::vector<std::int64_t> bytes;
  bytes.reserve(pairs.size());
  double all = 0;
  for (const WeighedPair& pair : pairs) bytes.push_back(pair.bytes), all += static_cast<double>(pair.bytes);
  std::sort(bytes.begin(), bytes.end(), std::greater<>());
  double kept = 0;
  std::int64_t least = 0;
  for (const std::int64_t of_pair : bytes) {
    if (kept >= share * all && of_pair != least) break;
    least = of_pair;
    kept += static_cast<double>(of_pair);
  }
  std::erase_if(pairs, [&](const WeighedPair& pair) { return pair.bytes < least; });
  return pairs;
}

std::vector<WeighedPair> sample_of(std::span<const WeighedPair> pairs, std::size_t count) {
  if (pairs.size() <= count) return {pairs.begin(), pairs.end()};
  std::vector<WeighedPair> sample;
  sample.reserve(count);
  // Steps of the golden ratio: neither every second pair nor the first ranks alone.
  double at = 0.5;
  for (std::size_t k = 0; k < count; ++k) {
    at += 0.6180339887498949;
    at -= static_cast<double>(static_cast<std::int64_t>(at));
    sample.push_back(pairs[static_cast<std::size_t>(at * static_cast<double>(pairs.size()))]);
  }
  return sample;
}

std::int64_t hop_bytes_along(const MappingHost& host, const Box& box, std::size_t axis,
                             std::span<const WeighedPair> pairs, std::span<const Coordinate> coordinate_of_rank) {
  std::int64_t sum = 0;
  const Coordinate* const at = coordinate_of_rank.data();
  if (box.has_axes()) {
    const std::int32_t* const hops = box.hops[axis].data();
    const std::int32_t length = box.axes[axis].length;
    for (const WeighedPair& pair : pairs) sum += pair.bytes * hops[at[pair.a] * length + at[pair.b]];
    return sum;
  }
  return host.metric.visit([&](const auto& hops) {
    const auto node = [&](std::int32_t rank) {
      return host.node(box.slot_of_place[static_cast<std::size_t>(at[rank])]);
    };
    for (const WeighedPair& pair : pairs) sum += pair.bytes * hops(node(pair.a), node(pair.b));
    return sum;
  });
}

std::int64_t hop_bytes_in(const MappingHost& host, const Box& box, std::span<const WeighedPair> pairs,
                          const CoordinatesOfRanks& coordinates) {
  std::int64_t sum = 0;
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis)
    sum += hop_bytes_along(host, box, axis, pairs, coordinates[axis]);
  return sum;
}

} // namespace kumihimo::mapping
