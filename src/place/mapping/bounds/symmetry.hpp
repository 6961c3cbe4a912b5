// Symmetries of a graph: renumberings of its ranks that leave it as it is, or nearly so.
#pragma once

#include "mapping/lattice/lattice.hpp"
#include "mapping/search/problem.hpp"
#include "mapping/search/tools.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kumihimo::mapping {

using Renumbering = std::vector<std::int32_t>; // a permutation of the ranks

bool is_symmetry(const TrafficGraph& graph, const Renumbering& renumbering); // O(edges), less where it is none

// Steps along the axes that wrap, and mirrorings of the others; none of a lattice with other places than ranks.
std::vector<Renumbering> steps_of(const Lattice& lattice);

// Symmetries found in the rank numbers: shifts by a divisor of their number, exclusive or with a mask, exchanges of
// binary digits, their reversal, and steps in the grid that the ranks are known to form. Only those that leave the
// graph as it is. Of the masks, only those found before about `terms` edges were looked at or the search was stopped.
std::vector<Renumbering> symmetries_of_numbers(const TrafficGraph& graph, const std::optional<Shape>& grid,
                                               std::int64_t terms, const Tools& tools);

// A part of a graph that some renumberings, and so all of the group that they generate, leave as it is. Any
// renumberings will do: each edge has the fewest bytes of all edges in its orbit, and no byte if one of its images is
// no edge. So no cut of it has more bytes than in the graph.
struct SymmetricPart {
  struct Arc {
    std::int32_t to = 0, orbit = 0;
  };
  std::vector<std::int64_t> first;
  std::vector<Arc> arcs; // each edge twice, without those of no bytes
  struct Orbit {
    std::int64_t bytes = 0, edges = 0; // of one edge; how many
  };
  std::vector<Orbit> orbits;
  struct Source {
    std::int32_t rank = 0;
    std::int64_t ranks = 1; // in its orbit
  };
  std::vector<Source> sources; // one rank of each orbit

  std::int32_t ranks() const { return static_cast<std::int32_t>(first.size()) - 1; }
};
// O(edges x renumberings x log degree).
SymmetricPart symmetric_part(const TrafficGraph& graph, std::span<const Renumbering> renumberings);

} // namespace kumihimo::mapping
