// Hop-bytes: the sum over all messages of bytes times hops. The load of all links together.
#pragma once

#include "mapping/objective/assignment.hpp"
#include "mapping/objective/graph.hpp"
#include "mapping/objective/host.hpp"

namespace kumihimo::mapping {

// Exact: `most_traffic` bytes of traffic over distances below 2 do not overflow; beyond it, weigh() makes a graph that
// does not.
std::int64_t hop_bytes(const Graph& graph, const Host& host, const Assignment& assignment);

// What exchange(rank, slot) adds to the hop-bytes. O(degree of both). `hops` is a function of two nodes, from
// Metric::visit.
template <class Hops>
std::int64_t hop_bytes_added(const Graph& graph, const Host& host, const Assignment& assignment, std::int32_t rank,
                             std::int32_t slot, const Hops& hops) {
  const std::int32_t from = host.node(assignment.slot(rank)), to = host.node(slot);
  if (from == to) return 0;
  const std::int32_t other = assignment.rank_in(slot);
  std::int64_t added = 0;
  // The distance between the two that change places stays the same: it is symmetric.
  for (const Graph::Edge& edge : graph.of(rank)) {
    if (edge.to == other) continue;
    const std::int32_t node = host.node(assignment.slot(edge.to));
    added += edge.bytes * (hops(to, node) - hops(from, node));
  }
  if (other < 0) return added;
  for (const Graph::Edge& edge : graph.of(other)) {
    if (edge.to == rank) continue;
    const std::int32_t node = host.node(assignment.slot(edge.to));
    added += edge.bytes * (hops(from, node) - hops(to, node));
  }
  return added;
}

// The graph with all bytes divided by the same power of two, rounded, so that sixteen times its hop-bytes on this host
// fit 62 bits. Without need: the same graph. At least 1 byte an edge.
struct Weighed {
  Graph graph;
  int halvings = 0;
};
Weighed weigh(Graph graph, const Host& host);

// Bytes between ranks on different nodes.
std::int64_t off_node_bytes(const Graph& graph, const Host& host, const Assignment& assignment);

} // namespace kumihimo::mapping
