#include "mapping/anneal/nearby.hpp"

#include <algorithm>

namespace kumihimo::mapping {
namespace {

constexpr std::int32_t window = 64; // numbers looked at on either side, without axes
constexpr std::size_t kept_of_window = 12;

// The node `steps` along an axis from another; -1: beyond the end, or not of this network.
std::int32_t node_along(const Metric& metric, std::int32_t node, std::int32_t axis, std::int32_t steps) {
  const auto [length, wraps] = metric.axes().axes()[static_cast<std::size_t>(axis)];
  Coordinates coordinates;
  for (std::int32_t each = 0; each < metric.axes().dimensions(); ++each)
    coordinates.push_back(metric.coordinate(node, each));
  std::int32_t& coordinate = coordinates[static_cast<std::size_t>(axis)];
  coordinate += steps;
  if (wraps) coordinate = (coordinate % length + length) % length;
  return coordinate < 0 || coordinate >= length ? -1 : metric.node_at(coordinates);
}

std::vector<std::int32_t> nearest_on_axes(const MappingHost& host, std::int32_t node) {
  std::vector<std::int32_t> nearest;
  for (const std::int32_t steps : {1, 2}) {
    for (std::int32_t axis = 0; axis < host.metric.axes().dimensions(); ++axis)
      for (const std::int32_t way : {-steps, steps}) {
        const std::int32_t other = node_along(host.metric, node, axis, way);
        if (other < 0 || other == node || host.slots.on(NodeId{other}) == 0) continue;
        if (std::find(nearest.begin(), nearest.end(), other) == nearest.end()) nearest.push_back(other);
      }
    if (!nearest.empty()) break;
  }
  return nearest;
}

std::vector<std::int32_t> nearest_in_window(const MappingHost& host, std::int32_t node) {
  std::vector<std::pair<std::int32_t, std::int32_t>> by_distance;
  const std::int32_t last = std::min(host.metric.nodes() - 1, node + window);
  host.metric.visit([&](const auto& hops) {
    for (std::int32_t other = std::max(0, node - window); other <= last; ++other)
      if (other != node && host.slots.on(NodeId{other}) > 0) by_distance.push_back({hops(node, other), other});
  });
  std::sort(by_distance.begin(), by_distance.end());
  std::vector<std::int32_t> nearest;
  for (const auto& [distance, other] : by_distance)
    if (nearest.size() < kept_of_window) nearest.push_back(other);
  return nearest;
}

} // namespace

Nearby::Nearby(const MappingHost& host) {
  const std::int32_t nodes = host.metric.nodes();
  slots_.resize(static_cast<std::size_t>(nodes));
  for (std::int32_t slot = 0; slot < host.size(); ++slot) {
    SlotsOfNode& on = slots_[static_cast<std::size_t>(host.node(slot))];
    if (on.slots++ == 0) on.first = slot;
  }
  first_.push_back(0);
  for (std::int32_t node = 0; node < nodes; ++node) {
    const std::int32_t slots = slots_[static_cast<std::size_t>(node)].slots;
    if (slots > 0) {
      if (slots > 1) nodes_.push_back(node);
      for (const std::int32_t other :
           host.metric.has_axes() ? nearest_on_axes(host, node) : nearest_in_window(host, node))
        nodes_.push_back(other);
    }
    first_.push_back(nodes_.size());
  }
}

} // namespace kumihimo::mapping
