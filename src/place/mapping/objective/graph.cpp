#include "mapping/objective/graph.hpp"

#include <algorithm>

namespace kumihimo::mapping {

std::int64_t TrafficGraph::bytes() const {
  std::int64_t sum = 0;
  for (const Edge& edge : edges) sum += edge.bytes;
  return sum / 2;
}

TrafficGraph TrafficGraph::of_pairs(std::int32_t ranks, std::span<const std::pair<std::int32_t, Edge>> pairs) {
  // A counting sort by one end and then by the other: each rank's edges come out ascending.
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> next(n + 1, 0);
  for (const auto& [from, edge] : pairs)
    ++next[static_cast<std::size_t>(from) + 1], ++next[static_cast<std::size_t>(edge.to) + 1];
  for (std::size_t rank = 0; rank < n; ++rank) next[rank + 1] += next[rank];
  const std::vector<std::size_t> start = next;
  std::vector<Edge> by_end(2 * pairs.size());
  for (const auto& [from, edge] : pairs) {
    by_end[next[static_cast<std::size_t>(edge.to)]++] = {from, edge.bytes};
    by_end[next[static_cast<std::size_t>(from)]++] = edge;
  }
  next = start;
  TrafficGraph graph;
  graph.edges.resize(by_end.size());
  for (std::size_t rank = 0; rank < n; ++rank)
    for (std::size_t at = start[rank]; at < start[rank + 1]; ++at)
      graph.edges[next[static_cast<std::size_t>(by_end[at].to)]++] = {static_cast<std::int32_t>(rank),
                                                                      by_end[at].bytes};
  graph.first.resize(n + 1);
  std::size_t kept = 0;
  for (std::size_t rank = 0; rank < n; ++rank) {
    const std::size_t begin = kept;
    for (std::size_t at = start[rank]; at < start[rank + 1]; ++at) {
      if (kept > begin && graph.edges[kept - 1].to == graph.edges[at].to)
        graph.edges[kept - 1].bytes += graph.edges[at].bytes;
      else
        graph.edges[kept++] = graph.edges[at];
    }
    graph.first[rank + 1] = static_cast<std::int64_t>(kept);
  }
  graph.edges.resize(kept);
  graph.edges.shrink_to_fit();
  return graph;
}

TrafficGraph TrafficGraph::of(const Traffic& traffic) {
  std::vector<std::pair<std::int32_t, Edge>> pairs;
  pairs.reserve(static_cast<std::size_t>(traffic.flows()));
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank)
    for (const Traffic::Flow& flow : traffic.from(Rank{rank}))
      if (flow.bytes > 0) pairs.push_back({rank, {flow.to.value, flow.bytes}});
  return of_pairs(traffic.ranks(), pairs);
}

TrafficGraph TrafficGraph::part(std::span<const std::int32_t> ranks) const {
  std::vector<std::int32_t> place(static_cast<std::size_t>(this->ranks()), -1);
  for (std::size_t at = 0; at < ranks.size(); ++at)
    place[static_cast<std::size_t>(ranks[at])] = static_cast<std::int32_t>(at);
  std::vector<std::pair<std::int32_t, Edge>> pairs;
  for (std::size_t at = 0; at < ranks.size(); ++at)
    for (const Edge& edge : of(ranks[at]))
      if (const std::int32_t other = place[static_cast<std::size_t>(edge.to)]; other > static_cast<std::int32_t>(at))
        pairs.push_back({static_cast<std::int32_t>(at), {other, edge.bytes}});
  return of_pairs(static_cast<std::int32_t>(ranks.size()), pairs);
}

} // namespace kumihimo::mapping
