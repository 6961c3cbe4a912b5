// Maps that follow a translation: a step of the grid along one axis is a step of the host along one of its axes. So all
// ranks of an orbit (those that differ by such steps) move together, and few unknowns are left to anneal: 256 for
// 16x16x16 ranks, whose 16 layers lie 3 planes apart on an axis of 48.
#pragma once

#include "mapping/lattice/lattice.hpp"
#include "mapping/search/problem.hpp"
#include "mapping/search/tools.hpp"

namespace kumihimo::mapping {

// The best maps of the translations that fit, fewest hop-bytes first; none where none fits. O(terms).
std::vector<NamedMap> orbit_maps(const MappingProblem& problem, const Lattice& lattice, std::int64_t terms,
                                 std::uint64_t seed, const Tools& tools);

} // namespace kumihimo::mapping
