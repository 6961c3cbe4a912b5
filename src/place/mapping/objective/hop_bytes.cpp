#include "mapping/objective/hop_bytes.hpp"

#include <algorithm>

namespace kumihimo::mapping {

std::int64_t hop_bytes(const TrafficGraph& graph, const MappingHost& host, const Assignment& assignment) {
  return host.metric.visit([&](const auto& hops) {
    std::int64_t sum = 0;
    for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) {
      const std::int32_t node = host.node(assignment.slot(rank));
      for (const TrafficGraph::Edge& edge : graph.of(rank))
        if (edge.to > rank) sum += edge.bytes * hops(node, host.node(assignment.slot(edge.to)));
    }
    return sum;
  });
}

Weighed weigh(TrafficGraph graph, const MappingHost& host) {
  const std::int64_t most = (std::int64_t{1} << 58) / std::max(1, 2 * host.network->diameter() + 2);
  Weighed weighed{std::move(graph), 0};
  for (std::int64_t bytes = weighed.graph.bytes(); bytes > most; bytes /= 2) ++weighed.halvings;
  if (weighed.halvings > 0)
    for (TrafficGraph::Edge& edge : weighed.graph.edges)
      edge.bytes = std::max<std::int64_t>(1, edge.bytes >> weighed.halvings);
  return weighed;
}

std::int64_t off_node_bytes(const TrafficGraph& graph, const MappingHost& host, const Assignment& assignment) {
  std::int64_t sum = 0;
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
    for (const TrafficGraph::Edge& edge : graph.of(rank))
      if (edge.to > rank && host.node(assignment.slot(rank)) != host.node(assignment.slot(edge.to))) sum += edge.bytes;
  return sum;
}

} // namespace kumihimo::mapping
