// How near slots are to each other, at best.
#pragma once

#include "mapping/objective/host.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::mapping {

// Nodes in different groups of `group` consecutive nodes are at least `hops` apart, both ways.
struct GroupHops {
  std::int32_t group = 1, hops = 1;
};
// Groups of a network without axes, the smallest first: those of one node. None: a single node.
std::vector<GroupHops> group_hops(const Topology& network);

// Entry d: an upper bound of the number of slots within d hops of a slot, itself not counted. The last entry has all
// others. Holes and slots that stay free count as they are, or as more. O(nodes^2) on small networks with holes or
// without axes, else O(nodes).
std::vector<std::int64_t> slots_within(const MappingHost& host);

// Hops between two nodes: where the ways there and back differ, the shorter one, so that what is proved with it holds
// for every message.
template <class Work>
decltype(auto) visit_least_hops(const MappingHost& host, Work&& work) {
  if (host.metric.has_axes()) return host.metric.visit(work);
  return work([network = host.network.get()](std::int32_t from, std::int32_t to) {
    return std::min(network->distance(NodeId{from}, NodeId{to}), network->distance(NodeId{to}, NodeId{from}));
  });
}

} // namespace kumihimo::mapping
