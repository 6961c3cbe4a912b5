#include "mapping/objective/metric.hpp"

#include "topology/fat_tree.hpp"
#include "topology/tofu.hpp"
#include "topology/torus.hpp"
#include "topology/virtual_torus.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

namespace kumihimo::mapping {
namespace {

// The axes that a network's distances are sums over, and the place of each node on them.
struct Axes {
  Shape shape;
  std::vector<std::int32_t> place_of_node;
};

std::optional<Axes> axes_of(const Topology& network) {
  const auto all_places = [&](const Shape& shape) -> std::optional<Axes> {
    if (shape.dimensions() < 1 || shape.dimensions() > 6) return {};
    for (const Axis& axis : shape.axes())
      if (axis.length > std::numeric_limits<std::uint16_t>::max()) return {};
    Axes axes{shape, {}};
    for (std::int32_t node = 0; node < network.nodes(); ++node) axes.place_of_node.push_back(node);
    return axes;
  };
  if (const auto* torus = dynamic_cast<const Torus*>(&network)) return all_places(torus->shape());
  if (const auto* tofu = dynamic_cast<const Tofu*>(&network); tofu && tofu->whole()) return all_places(tofu->shape());
  if (const auto* torus = dynamic_cast<const VirtualTorus*>(&network); torus && torus->tofu().whole()) {
    Axes axes{torus->tofu().shape(), {}};
    for (std::int32_t node = 0; node < network.nodes(); ++node)
      axes.place_of_node.push_back(torus->tofu().node(torus->place(NodeId{node})).value);
    return axes;
  }
  return {};
}

} // namespace

Metric Metric::of(const Topology& network, const Slots& slots) {
  Metric metric;
  metric.nodes_ = network.nodes();
  if (const std::optional<Axes> axes = axes_of(network)) {
    metric.shape_ = axes->shape;
    const std::int32_t dimensions = axes->shape.dimensions();
    metric.node_at_.assign(static_cast<std::size_t>(axes->shape.places()), -1);
    for (std::int32_t node = 0; node < metric.nodes_; ++node) {
      const std::int32_t place = axes->place_of_node[static_cast<std::size_t>(node)];
      metric.node_at_[static_cast<std::size_t>(place)] = node;
      Place& coordinates = metric.places_.emplace_back();
      for (std::int32_t axis = 0; axis < dimensions; ++axis)
        coordinates[static_cast<std::size_t>(axis)] = axes->shape.coordinate(place, axis);
    }
    for (std::int32_t axis = 0; axis < dimensions; ++axis) {
      const auto [length, wraps] = axes->shape.axes()[static_cast<std::size_t>(axis)];
      metric.origin_[static_cast<std::size_t>(axis)] =
          static_cast<std::int32_t>(metric.by_difference_.size()) + length - 1;
      for (std::int32_t difference = 1 - length; difference < length; ++difference) {
        const std::int32_t straight = std::abs(difference);
        metric.by_difference_.push_back(
            static_cast<std::uint16_t>(wraps ? std::min(straight, length - straight) : straight));
      }
    }
    return metric;
  }
  if (const auto* tree = dynamic_cast<const FatTree*>(&network); tree && tree->tiers().size() == 1) {
    metric.apart_ = std::max(1, tree->diameter());
    return metric;
  }
  metric.network_ = &network;
  if (metric.nodes_ > most_nodes_in_table) return metric;
  metric.table_.resize(static_cast<std::size_t>(metric.nodes_) * static_cast<std::size_t>(metric.nodes_));
  for (std::int32_t from = 0; from < metric.nodes_; ++from) {
    std::uint16_t* row =
        metric.table_.data() + static_cast<std::size_t>(from) * static_cast<std::size_t>(metric.nodes_);
    for (std::int32_t to = 0; to < metric.nodes_; ++to)
      if (from != to && slots.on(NodeId{from}) > 0 && slots.on(NodeId{to}) > 0)
        row[to] = static_cast<std::uint16_t>(Asked{&network}(from, to));
  }
  return metric;
}

} // namespace kumihimo::mapping
