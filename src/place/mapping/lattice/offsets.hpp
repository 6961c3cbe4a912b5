// Edges of a graph in the coordinates of a grid.
#pragma once

#include "mapping/lattice/lattice.hpp"

namespace kumihimo::mapping {

// The grid as a lattice of this graph: its offsets that at least half of the ranks have, and the share of bytes between
// neighbours. O(edges).
Lattice lattice_of(const TrafficGraph& graph, Shape shape, std::vector<std::int32_t> place_of_rank);

} // namespace kumihimo::mapping
