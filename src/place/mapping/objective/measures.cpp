#include "mapping/objective/measures.hpp"

#include "mapping/objective/link_loads.hpp"

#include <algorithm>

namespace kumihimo::mapping {

Measures measure(const Traffic& traffic, const MappingHost& host, const Assignment& assignment) {
  Measures measures;
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank)
    for (const Traffic::Flow& flow : traffic.from(Rank{rank})) {
      const NodeId from{host.node(assignment.slot(rank))}, to{host.node(assignment.slot(flow.to.value))};
      if (flow.bytes == 0 || from == to) continue;
      measures.hop_bytes += static_cast<double>(flow.bytes) * host.network->distance(from, to);
      measures.off_node_bytes += flow.bytes;
    }
  measures.average_hops = traffic.bytes() > 0 ? measures.hop_bytes / static_cast<double>(traffic.bytes()) : 0;
  const std::vector<std::int64_t> loads = link_loads(traffic, host, assignment);
  for (const std::int64_t load : loads) measures.link_bytes_max = std::max(measures.link_bytes_max, load);
  return measures;
}

} // namespace kumihimo::mapping
