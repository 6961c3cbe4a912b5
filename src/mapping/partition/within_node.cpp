#include "mapping/partition/within_node.hpp"

namespace kumihimo::mapping {

Assignment place_within_nodes(const Graph&, const Host&, Assignment start, std::span<const Level>, std::uint64_t,
                              const Tools&) {
  return start;
}

std::vector<std::int64_t> bytes_across(const Graph& graph, const Host& host, const Assignment& assignment,
                                       std::span<const Level> levels) {
  std::vector<std::int64_t> bytes(levels.size(), 0);
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
    for (const Graph::Edge& edge : graph.of(rank)) {
      const Slot a = host.slots.at(assignment.slot(rank)), b = host.slots.at(assignment.slot(edge.to));
      if (edge.to < rank || a.node != b.node) continue;
      for (std::size_t level = 0; level < levels.size(); ++level)
        if (a.number / levels[level].size != b.number / levels[level].size) bytes[level] += edge.bytes;
    }
  return bytes;
}

} // namespace kumihimo::mapping
