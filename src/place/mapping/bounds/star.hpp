// The star bound: the heaviest partners of each rank are at best on the nearest slots.
#pragma once

#include "mapping/objective/graph.hpp"
#include "mapping/search/tools.hpp"

#include <cstdint>
#include <span>

namespace kumihimo::mapping {

// Hop-bytes, exact integers. The bytes of an edge are divided between its two ends, as is best for the bound: first in
// halves, then by a subgradient, as ends may want the same edge at different distances. Each division gives a bound, as
// an edge's hops are paid by both ends together. O(edges log degree) for each of up to `rounds` improvements; none
// where the halves are best already. within: of slots_within().
std::int64_t star_bound(const TrafficGraph& graph, std::span<const std::int64_t> within, int rounds,
                        const Tools& tools);

} // namespace kumihimo::mapping
