// Maps to hosts that no box of the ranks' number fits: digits are searched in a box of similar form, and the box is cut
// onto the host in jagged parts.
#pragma once

#include "mapping/search/problem.hpp"
#include "mapping/search/tools.hpp"
#include "mapping/structured/box_cost.hpp"

namespace kumihimo::mapping {

struct JaggedMap {
  std::int64_t hop_bytes = 0;
  Assignment map;
};

// From places of ranks in a shape; the best of all axis orders and ways of cutting, at most `most`. The host has axes
// (none: no map).
std::vector<JaggedMap> jagged_maps(const MappingProblem& problem, const Shape& shape,
                                   std::span<const std::int32_t> place_of_rank, std::int64_t terms, std::uint64_t seed,
                                   std::size_t most, const Tools& tools);

} // namespace kumihimo::mapping
