#include "mapping/partition/legal.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {

Assignment legal_map(const TrafficGraph& graph, const MappingHost& host, std::span<const std::int32_t> node_of_rank) {
  const auto index = [](std::int32_t number) { return static_cast<std::size_t>(number); };
  std::vector<std::int32_t> next(index(host.metric.nodes()), 0), end(index(host.metric.nodes()), 0);
  for (std::int32_t slot = host.size() - 1; slot >= 0; --slot) next[index(host.node(slot))] = slot;
  for (std::int32_t slot = 0; slot < host.size(); ++slot) end[index(host.node(slot))] = slot + 1;
  std::vector<std::int64_t> bytes(index(graph.ranks()), 0);
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
    for (const TrafficGraph::Edge& edge : graph.of(rank)) bytes[index(rank)] += edge.bytes;
  std::vector<std::int32_t> order(index(graph.ranks()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return bytes[index(a)] > bytes[index(b)]; });

  std::vector<std::int32_t> slot_of_rank(index(graph.ranks()), -1), surplus;
  for (const std::int32_t rank : order) {
    const std::int32_t node = node_of_rank[index(rank)];
    if (node >= 0 && node < host.metric.nodes() && next[index(node)] < end[index(node)])
      slot_of_rank[index(rank)] = next[index(node)]++;
    else
      surplus.push_back(rank);
  }
  std::vector<std::int32_t> free;
  for (std::int32_t node = 0; node < host.metric.nodes(); ++node)
    if (next[index(node)] < end[index(node)]) free.push_back(node);
  host.metric.visit([&](const auto& hops) {
    for (const std::int32_t rank : surplus) {
      std::int32_t best = -1;
      std::int64_t least = 0;
      for (const std::int32_t node : free) {
        if (next[index(node)] == end[index(node)]) continue;
        std::int64_t cost = 0;
        for (const TrafficGraph::Edge& edge : graph.of(rank))
          if (const std::int32_t slot = slot_of_rank[index(edge.to)]; slot >= 0)
            cost += edge.bytes * hops(node, host.node(slot));
        if (best < 0 || cost < least) best = node, least = cost;
      }
      slot_of_rank[index(rank)] = next[index(best)]++;
    }
  });
  return Assignment::of_slots(std::move(slot_of_rank), host.size());
}

} // namespace kumihimo::mapping
