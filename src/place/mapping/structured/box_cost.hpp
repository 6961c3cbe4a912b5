// Hop-bytes in a box, summed axis by axis, so that a change on one axis is counted on that axis alone.
#pragma once

#include "mapping/objective/assignment.hpp"
#include "mapping/objective/graph.hpp"
#include "mapping/structured/box.hpp"

namespace kumihimo::mapping {

// Coordinates of ranks in a box: a row for each axis.
using Coordinate = std::int32_t;
using CoordinatesOfRanks = std::vector<std::vector<Coordinate>>;

CoordinatesOfRanks coordinates_in(const Box& box, std::span<const std::int32_t> place_of_rank);
std::vector<std::int32_t> places_in(const Box& box, const CoordinatesOfRanks& coordinates);
Assignment assignment_in(const Box& box, const MappingHost& host, const CoordinatesOfRanks& coordinates);

struct WeighedPair {
  std::int32_t a = 0, b = 0;
  std::int64_t bytes = 0;
};
// The heaviest pairs that have this share of all bytes; all of equal bytes, or none.
std::vector<WeighedPair> heavy_pairs(const TrafficGraph& graph, double share);
// About so many of them, spread evenly.
std::vector<WeighedPair> sample_of(std::span<const WeighedPair> pairs, std::size_t count);

// Hop-bytes of these pairs along one axis. O(pairs).
std::int64_t hop_bytes_along(const MappingHost& host, const Box& box, std::size_t axis,
                             std::span<const WeighedPair> pairs, std::span<const Coordinate> coordinate_of_rank);
std::int64_t hop_bytes_in(const MappingHost& host, const Box& box, std::span<const WeighedPair> pairs,
                          const CoordinatesOfRanks& coordinates);

} // namespace kumihimo::mapping
