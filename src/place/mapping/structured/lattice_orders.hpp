// Orders for ranks that are numbered along a grid which was found in the traffic.
#pragma once

#include "mapping/lattice/lattice.hpp"
#include "mapping/search/problem.hpp"
#include "mapping/search/tools.hpp"
#include "placement/orders.hpp"

#include <span>

namespace kumihimo::mapping {

// The usual and the simple orders (placement/orders.hpp) with ranks in row-major order of a lattice, whose axes are
// tried in any order; two axes of length 2 are a ring of 4, too. Boxes of the lattice that fill a node are among them.
// And a network may have a shape that suits the grid, and yet no distances that are sums over axes, as Tofu with dead
// parts. `context`: of the job; its grid is replaced by that of the lattice. The best few by hop-bytes, as long as
// `terms` last, of which each order takes eight a rank, and one an edge if no other order is the same.
std::vector<NamedMap> lattice_orders(const MappingProblem& problem, std::span<const Lattice> lattices,
                                     OrderContext context, std::int64_t terms, const Tools& tools);

} // namespace kumihimo::mapping
