// Hop-bytes: the sum over all messages of bytes times hops. The load of all links together.
#pragma once

#include "mapping/objective/assignment.hpp"
#include "mapping/objective/graph.hpp"
#include "mapping/objective/host.hpp"

namespace kumihimo::mapping {

// Exact: `most_traffic` bytes of traffic over distances below 2 do not overflow; beyond it, weigh() makes a graph that
// does not.
std::int64_t hop_bytes(const TrafficGraph& graph, const MappingHost& host, const Assignment& assignment);

// The graph with all bytes divided by the same power of two, rounded, so that sixteen times its hop-bytes on this host
// fit 62 bits. Without need: the same graph. At least 1 byte an edge.
struct Weighed {
  TrafficGraph graph;
  int halvings = 0;
};
Weighed weigh(TrafficGraph graph, const MappingHost& host);

// Bytes between ranks on different nodes.
std::int64_t off_node_bytes(const TrafficGraph& graph, const MappingHost& host, const Assignment& assignment);

} // namespace kumihimo::mapping
