// The optimum of a few ranks, by trying all placements that may still be better than the best one so far.
#pragma once

#include "mapping/objective/graph.hpp"
#include "mapping/objective/host.hpp"
#include "mapping/search/tools.hpp"

#include <cstdint>
#include <optional>

namespace kumihimo::mapping {

// The fewest hop-bytes. None: not done after `terms` edges, or stopped. Memory O(nodes).
std::optional<std::int64_t> fewest_by_trying(const TrafficGraph& graph, const MappingHost& host, std::int64_t terms,
                                             const Tools& tools);

} // namespace kumihimo::mapping
