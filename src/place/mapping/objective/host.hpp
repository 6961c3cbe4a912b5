// Host on which ranks are placed: a network, and the slots of its nodes.
#pragma once

#include "base/result.hpp"
#include "mapping/objective/metric.hpp"
#include "placement/slots.hpp"
#include "topology/level.hpp"

#include <algorithm>
#include <span>

namespace kumihimo::mapping {

struct MappingHost {
  TopologyPtr network;
  Slots slots; // a node without slots is a hole: dead, or not the job's
  Metric metric;
  std::vector<std::int32_t> node_of_slot; // slots are numbered in block order (placement/slots.hpp)

  // Error: another number of nodes than the network has.
  static Result<MappingHost> make(TopologyPtr network, Slots slots);
  // The cores of one node, a slot each, as leaves of a tree of its levels (topology/level.hpp: groups of consecutive
  // cores, outermost first), so that two cores are the nearer the more levels they share. Without levels all are alike.
  static MappingHost of_cores(std::int32_t cores, std::span<const Level> levels);

  std::int32_t size() const { return slots.size(); }
  std::int32_t node(std::int32_t slot) const { return node_of_slot[static_cast<std::size_t>(slot)]; }
  // Whether no node has several slots.
  bool has_one_slot_a_node() const {
    return std::adjacent_find(node_of_slot.begin(), node_of_slot.end()) == node_of_slot.end();
  }
};

} // namespace kumihimo::mapping
