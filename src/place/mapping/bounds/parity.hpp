// The parity bound: on a network with only even cycles, the hops around a cycle of ranks sum to an even number. So an
// odd cycle of n ranks on n nodes has n + 1 hops at least.
#pragma once

#include "mapping/objective/graph.hpp"
#include "mapping/objective/host.hpp"
#include "mapping/search/tools.hpp"

#include <cstdint>

namespace kumihimo::mapping {

// At most one rank a node, and no odd ring among the axes.
bool is_bipartite(const MappingHost& host);

// Odd cycles, each with a number of bytes, so that no edge has more bytes in all its cycles than it has itself.
struct CyclePacking {
  TrafficGraph rest;            // the graph without them
  std::int64_t hop_bytes = 0;   // of the cycles, at least: bytes times one more than the length
  std::int64_t extra_bytes = 0; // that is more than the bytes of their edges by so many
};
// Triangles first, each edge's bytes divided evenly between its triangles, in rounds; then longer cycles, shortest
// first. About `terms` edges are looked at.
CyclePacking pack_odd_cycles(const TrafficGraph& graph, std::int64_t terms, const Tools& tools);

} // namespace kumihimo::mapping
