// The parts of a graph that may be a grid without diagonals: what is left without light or without dispensable edges.
#pragma once

#include "mapping/lattice/product_graph.hpp"
#include "mapping/objective/graph.hpp"

namespace kumihimo::mapping {

// All edges; edges of at least so many bytes, for each of the widest gaps between the bytes of edges. Only connected
// ones of few neighbours a rank. O(edges log edges).
std::vector<Links> heavy_parts(const TrafficGraph& graph);

// The Cartesian skeleton: a halo with diagonals, a strong product, without its diagonals (Hammack, Imrich, "On
// Cartesian skeletons of graphs", Ars Mathematica Contemporanea 2, 2009). Right for axes of length 4 or more. With more
// neighbours of a rank than a halo of 5 dimensions has: the links as they are. O(edges x degree).
Links skeleton(const Links& links);

// As many heaviest edges of each rank, where both ends agree.
Links heaviest_of_each(const TrafficGraph& graph, std::size_t count);

Links links_of_at_least(const TrafficGraph& graph, std::int64_t bytes);
bool is_connected(const Links& links);

} // namespace kumihimo::mapping
