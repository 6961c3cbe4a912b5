#include "mapping/bounds/near_slots.hpp"

#include "topology/dragonfly.hpp"
#include "topology/fat_tree.hpp"
#include "topology/router_torus.hpp"

#include <algorithm>

namespace kumihimo::mapping {
namespace {

constexpr std::int64_t most_pairs_of_nodes = std::int64_t{10} << 20;

using Counts = std::vector<std::int64_t>; // by hops

std::vector<std::int32_t> nodes_with_slots(const MappingHost& host) {
  std::vector<std::int32_t> nodes;
  for (std::int32_t node = 0; node < host.slots.nodes(); ++node)
    if (host.slots.on(NodeId{node}) > 0) nodes.push_back(node);
  return nodes;
}

void raise(Counts& most, const Counts& counts) {
  std::int64_t sum = 0;
  for (std::size_t hops = 0; hops < std::max(most.size(), counts.size()); ++hops) {
    if (hops < counts.size()) sum += counts[hops];
    if (hops == most.size()) most.push_back(most.empty() ? 0 : most.back());
    most[hops] = std::max(most[hops], sum);
  }
}

// Counts of each node in turn.
Counts by_pairs(const MappingHost& host, const std::vector<std::int32_t>& nodes) {
  Counts most, counts;
  visit_least_hops(host, [&](const auto& hops) {
    for (const std::int32_t from : nodes) {
      counts.assign(counts.size(), 0);
      for (const std::int32_t to : nodes) {
        const auto apart = from == to ? std::size_t{0} : static_cast<std::size_t>(hops(from, to));
        if (apart >= counts.size()) counts.resize(apart + 1, 0);
        counts[apart] += host.slots.on(NodeId{to});
      }
      raise(most, counts);
    }
  });
  return most;
}

// As if each node had as many slots as the one that has most. The middle of a box has most neighbours: the numbers of
// an axis within d hops are greatest there for every d, and so are those of axes together.
Counts by_axes(const Shape& shape, std::int64_t slots_a_node) {
  Counts counts = {slots_a_node};
  for (const Axis& axis : shape.axes()) {
    Counts on_axis;
    for (std::int32_t at = 0; at < axis.length; ++at) {
      const std::int32_t straight = std::abs(at - axis.length / 2);
      const auto apart = static_cast<std::size_t>(axis.wraps ? std::min(straight, axis.length - straight) : straight);
      if (apart >= on_axis.size()) on_axis.resize(apart + 1, 0);
      ++on_axis[apart];
    }
    Counts both(counts.size() + on_axis.size() - 1, 0);
    for (std::size_t i = 0; i < counts.size(); ++i)
      for (std::size_t j = 0; j < on_axis.size(); ++j) both[i + j] += counts[i] * on_axis[j];
    counts = std::move(both);
  }
  Counts most;
  raise(most, counts);
  return most;
}

Counts by_groups(const MappingHost& host, const std::vector<GroupHops>& groups) {
  Counts most;
  for (const GroupHops& group : groups) {
    std::int64_t largest = 0, sum = 0;
    for (std::int32_t node = 0; node < host.slots.nodes(); ++node) {
      if (node % group.group == 0) sum = 0;
      sum += host.slots.on(NodeId{node});
      largest = std::max(largest, sum);
    }
    while (most.size() < static_cast<std::size_t>(group.hops)) most.push_back(largest);
  }
  most.push_back(host.size());
  return most;
}

} // namespace

std::vector<GroupHops> group_hops(const Topology& network) {
  if (network.nodes() == 1) return {};
  if (const auto* tree = dynamic_cast<const FatTree*>(&network)) {
    std::vector<GroupHops> groups = {{1, tree->distance(NodeId{0}, NodeId{1})}};
    const std::vector<Level> levels = tree->levels();
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
      if (level->size > 1 && level->size < tree->nodes())
        groups.push_back({level->size, tree->distance(NodeId{0}, NodeId{level->size})});
    return groups;
  }
  if (const auto* fly = dynamic_cast<const Dragonfly*>(&network)) {
    const Dragonfly::Counts& counts = fly->counts();
    const bool plus = counts.spines > 0; // two leaves have a spine between them, or two of different groups
    return {{1, 2}, {counts.nodes_per_router, plus ? 4 : 3}, {counts.nodes_per_router * counts.routers, plus ? 5 : 3}};
  }
  if (dynamic_cast<const RouterTorus*>(&network)) return {{1, 2}};
  return {{1, 1}};
}

std::vector<std::int64_t> slots_within(const MappingHost& host) {
  const std::vector<std::int32_t> nodes = nodes_with_slots(host);
  std::int64_t most_a_node = 0;
  bool all_alike = true;
  for (const std::int32_t node : nodes) {
    most_a_node = std::max<std::int64_t>(most_a_node, host.slots.on(NodeId{node}));
    all_alike = all_alike && host.slots.on(NodeId{node}) == host.slots.on(NodeId{nodes.front()});
  }
  const bool full =
      all_alike && host.metric.has_axes() && static_cast<std::int32_t>(nodes.size()) == host.metric.axes().places();
  const auto count = static_cast<std::int64_t>(nodes.size());
  const std::int64_t cost = host.metric.has_axes() ? 1 : 4;
  Counts most = !full && count * count * cost <= most_pairs_of_nodes * 2 ? by_pairs(host, nodes)
                : host.metric.has_axes()                                 ? by_axes(host.metric.axes(), most_a_node)
                                                                         : by_groups(host, group_hops(*host.network));
  for (std::int64_t& slots : most) slots = std::min<std::int64_t>(slots, host.size()) - 1;
  if (most.back() < host.size() - 1) most.push_back(host.size() - 1);
  return most;
}

} // namespace kumihimo::mapping
