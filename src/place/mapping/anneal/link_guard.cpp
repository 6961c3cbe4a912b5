#include "mapping/anneal/link_guard.hpp"

#include <algorithm>

namespace kumihimo::mapping {

void LinkGuard::list_busy_ranks(const Assignment& map) {
  std::vector<char> busy(static_cast<std::size_t>(map.ranks()), 0);
  std::vector<LinkId> route;
  for (std::int32_t rank = 0; rank < map.ranks(); ++rank)
    for (const Traffic::Flow& flow : traffic_.from(Rank{rank})) {
      if (flow.bytes == 0) continue;
      route.clear();
      host_.network->append_route(NodeId{host_.node(map.slot(rank))}, NodeId{host_.node(map.slot(flow.to.value))},
                                  route);
      if (std::any_of(route.begin(), route.end(), [&](LinkId link) { return loads_.on(link) > cap_; }))
        busy[static_cast<std::size_t>(rank)] = busy[static_cast<std::size_t>(flow.to.value)] = 1;
    }
  busy_ranks_.clear();
  for (std::int32_t rank = 0; rank < map.ranks(); ++rank)
    if (busy[static_cast<std::size_t>(rank)]) busy_ranks_.push_back(rank);
}

bool LinkGuard::take(const Assignment& map, std::int32_t rank, std::int32_t slot, std::int64_t added,
                     std::int64_t limit) {
  const LinkLoads::Change& change = loads_.change(map, rank, slot);
  const std::int64_t excess = loads_.excess_added(change, cap_);
  const bool may = price > 0
                       ? static_cast<double>(added) + price * static_cast<double>(excess) <= static_cast<double>(limit)
                       : added <= limit && excess <= 0;
  if (may) loads_.apply(change);
  return may;
}

} // namespace kumihimo::mapping
