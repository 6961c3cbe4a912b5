// Maps that follow the structure of grids and of rank numbers: embeddings, folds, linear maps of digits, orbits of a
// translation, jagged cuts.
#pragma once

#include "mapping/lattice/lattice.hpp"
#include "mapping/search/problem.hpp"
#include "mapping/search/tools.hpp"

#include <span>
#include <vector>

namespace kumihimo::mapping {

// Different maps of few hop-bytes, the fewest first. `terms`: about how many distances of an edge may be looked up.
// Deterministic for the seed, unless stopped.
std::vector<NamedMap> structured_maps(const MappingProblem& problem, std::span<const Lattice> lattices,
                                      std::int64_t terms, std::uint64_t seed, const Tools& tools);

} // namespace kumihimo::mapping
