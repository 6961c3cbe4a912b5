// A map from the nodes that a library chose.
#pragma once

#include "mapping/objective/assignment.hpp"
#include "mapping/objective/graph.hpp"
#include "mapping/objective/host.hpp"

#include <span>

namespace kumihimo::mapping {

// Each rank gets a slot of its node (-1: none chosen) while there is one; those of most bytes are served first. The
// others get the free slot that costs them least. O(edges + ranks moved x (free nodes x degree)).
Assignment legal_map(const TrafficGraph& graph, const MappingHost& host, std::span<const std::int32_t> node_of_rank);

} // namespace kumihimo::mapping
