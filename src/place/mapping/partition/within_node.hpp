// Ranks within their nodes: those that send each other much share a package and a cache.
#pragma once

#include "mapping/objective/assignment.hpp"
#include "mapping/objective/graph.hpp"
#include "mapping/objective/host.hpp"
#include "mapping/search/tools.hpp"
#include "topology/level.hpp"

#include <span>
#include <vector>

namespace kumihimo::mapping {

// Levels are groups of consecutive slot numbers of a node, outermost first: package, cache. The graph is weighed for
// the host. Each rank stays on its node. Bytes across the first level are kept few first, then those across the next
// one within its groups. The result has in no case more, in this order, than the start. Deterministic for the seed.
Assignment place_within_nodes(const TrafficGraph& graph, const MappingHost& host, Assignment start,
                              std::span<const Level> levels, std::uint64_t seed, const Tools& tools);

// Per level: the bytes between ranks on the same node in different groups of it.
std::vector<std::int64_t> bytes_across(const TrafficGraph& graph, const MappingHost& host, const Assignment& assignment,
                                       std::span<const Level> levels);

} // namespace kumihimo::mapping
