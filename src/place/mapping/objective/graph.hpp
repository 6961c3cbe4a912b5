// Traffic without directions: the bytes that two ranks send each other, both ways together. Hop-bytes need no more
// where the ways there and back are equally long.
#pragma once

#include "traffic/traffic.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::mapping {

struct TrafficGraph {
  struct Edge {
    std::int32_t to = 0;
    std::int64_t bytes = 0; // > 0
    bool operator==(const Edge&) const = default;
  };
  std::vector<std::int64_t> first = {0}; // of each rank in `edges`, and the number of edges
  std::vector<Edge> edges;               // each pair twice, once from either end; ascending `to`

  std::int32_t ranks() const { return static_cast<std::int32_t>(first.size()) - 1; }
  std::span<const Edge> of(std::int32_t rank) const {
    return std::span(edges).subspan(static_cast<std::size_t>(first[static_cast<std::size_t>(rank)]), degree(rank));
  }
  std::size_t degree(std::int32_t rank) const {
    return static_cast<std::size_t>(first[static_cast<std::size_t>(rank) + 1] - first[static_cast<std::size_t>(rank)]);
  }
  std::int64_t bytes() const; // of all pairs, each once: Traffic::bytes()

  // The edges with bytes; flows of messages without bytes are left out. O(flows log degree).
  static TrafficGraph of(const Traffic& traffic);
  // Edges in any order and from one end each. Those of the same pair are summed; neither end may be the other.
  static TrafficGraph of_pairs(std::int32_t ranks, std::span<const std::pair<std::int32_t, Edge>> pairs);
  // Graph of these ranks alone, numbered by their place in the list, with the edges between them.
  TrafficGraph part(std::span<const std::int32_t> ranks) const;
  bool operator==(const TrafficGraph&) const = default;
};

} // namespace kumihimo::mapping
