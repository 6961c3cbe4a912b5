// Hops between nodes, as a search needs them: many millions of times.
#pragma once

#include "placement/slots.hpp"
#include "topology/topology.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kumihimo::mapping {

// Symmetric: where the ways there and back differ, the longer one. A node has distance 0 to itself.
class Metric {
 public:
  // Tori, meshes and Tofu without dead parts: a table for each axis. Fat trees of one level: one distance. Other
  // networks of up to `most_nodes_in_table` nodes: a table of all pairs. Else the network is asked each time; it must
  // live as long. Only nodes with slots are asked about; distances of others are those on the axes, or 0.
  static Metric of(const Topology& network, const Slots& slots);
  static constexpr std::int32_t most_nodes_in_table = 8192; // 128 MiB

  // The lengths of the axes that distances are sums over; none unless they are. Tofu: its six.
  const Shape& axes() const { return shape_; }
  bool has_axes() const { return !places_.empty(); }
  std::int32_t nodes() const { return nodes_; }
  std::int32_t coordinate(std::int32_t node, std::int32_t axis) const {
    return places_[static_cast<std::size_t>(node)][static_cast<std::size_t>(axis)];
  }
  std::int32_t along(std::int32_t axis, std::int32_t from, std::int32_t to) const { // hops along one axis
    return by_difference_[static_cast<std::size_t>(origin_[static_cast<std::size_t>(axis)] + from - to)];
  }
  // The node at these coordinates of axes(); -1: none of this network.
  std::int32_t node_at(const Coordinates& coordinates) const {
    return node_at_[static_cast<std::size_t>(shape_.place(coordinates))];
  }

  std::int32_t operator()(std::int32_t from, std::int32_t to) const;

  // Calls `work` with a function of two nodes of one of few types, so that its inner loop is compiled for each.
  template <class Work>
  decltype(auto) visit(Work&& work) const {
    if (has_axes()) {
      switch (shape_.dimensions()) {
      case 1: return work(OfAxes<1>{this});
      case 2: return work(OfAxes<2>{this});
      case 3: return work(OfAxes<3>{this});
      case 4: return work(OfAxes<4>{this});
      case 5: return work(OfAxes<5>{this});
      default: return work(OfAxes<6>{this});
      }
    }
    if (apart_ > 0) return work(OfEqual{apart_});
    if (!table_.empty()) return work(OfTable{table_.data(), static_cast<std::size_t>(nodes_)});
    return work(Asked{network_});
  }

 private:
  using Place = std::array<std::int32_t, 8>;
  template <int axes>
  struct OfAxes {
    const Metric* metric;
    std::int32_t operator()(std::int32_t from, std::int32_t to) const {
      const Place& a = metric->places_[static_cast<std::size_t>(from)];
      const Place& b = metric->places_[static_cast<std::size_t>(to)];
      const std::uint16_t* table = metric->by_difference_.data();
      std::int32_t sum = 0;
      for (std::size_t axis = 0; axis < axes; ++axis) sum += table[metric->origin_[axis] + a[axis] - b[axis]];
      return sum;
    }
  };
  struct OfEqual {
    std::int32_t apart;
    std::int32_t operator()(std::int32_t from, std::int32_t to) const { return from == to ? 0 : apart; }
  };
  struct OfTable {
    const std::uint16_t* table;
    std::size_t nodes;
    std::int32_t operator()(std::int32_t from, std::int32_t to) const {
      return table[static_cast<std::size_t>(from) * nodes + static_cast<std::size_t>(to)];
    }
  };
  struct Asked {
    const Topology* network;
    std::int32_t operator()(std::int32_t from, std::int32_t to) const {
      return std::max(network->distance(NodeId{from}, NodeId{to}), network->distance(NodeId{to}, NodeId{from}));
    }
  };

  std::int32_t nodes_ = 0, apart_ = 0;       // apart_: hops between any two nodes; 0: they differ
  Shape shape_;                              // with axes
  std::vector<Place> places_;                // of each node
  std::vector<std::int32_t> node_at_;        // by place of shape_
  std::vector<std::uint16_t> by_difference_; // hops, for each axis by the difference of coordinates
  Place origin_{};                           // of each axis in it: difference 0
  std::vector<std::uint16_t> table_;         // without axes: nodes * nodes
  const Topology* network_ = nullptr;
};

inline std::int32_t Metric::operator()(std::int32_t from, std::int32_t to) const {
  return visit([&](const auto& hops) { return hops(from, to); });
}

} // namespace kumihimo::mapping
