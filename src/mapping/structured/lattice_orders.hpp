// The usual and the simple orders for ranks that are numbered along a grid which was found in the traffic.
#pragma once

#include "mapping/lattice/lattice.hpp"
#include "mapping/search/problem.hpp"
#include "mapping/search/tools.hpp"

#include <span>

namespace kumihimo::mapping {

// Each of the orders, with ranks in row-major order of a lattice, its axes in any order; two axes of length 2 are a
// ring of 4, too. A network may have a shape that suits the grid and yet no distances that are sums over axes, as Tofu
// with dead parts. The best few by hop-bytes, as long as `terms` edges last.
std::vector<NamedMap> lattice_orders(const Problem& problem, std::span<const Lattice> lattices,
                                     std::span<const NamedMap> orders, std::int64_t terms, const Tools& tools);

} // namespace kumihimo::mapping
