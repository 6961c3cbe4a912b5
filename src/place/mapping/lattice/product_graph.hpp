// The factors of a graph that is a Cartesian product of rings and paths: its axes, and the coordinates of each vertex.
#pragma once

#include "topology/shape.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kumihimo::mapping {

// A graph without weights; neighbours ascend, each pair stands at both ends.
struct Links {
  std::vector<std::int64_t> first = {0};
  std::vector<std::int32_t> ends;

  std::int32_t vertices() const { return static_cast<std::int32_t>(first.size()) - 1; }
  std::span<const std::int32_t> of(std::int32_t vertex) const {
    const std::int64_t begin = first[static_cast<std::size_t>(vertex)];
    return std::span(ends).subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(first[static_cast<std::size_t>(vertex) + 1] - begin));
  }
};

struct LatticeGrid {
  Shape shape;
  std::vector<std::int32_t> place_of_vertex; // row-major
};

// The grid that the graph is, with every edge between neighbours on one axis; none if it is not one. A ring of 4 is two
// axes of length 2, as the graph does not tell them apart. O(edges x degree^2), less where the graph is no grid.
//
// In a product of rings and paths two edges of a vertex lie on different axes exactly if they are sides of a square
// without diagonals (except in a ring of 4), and then of one only; opposite sides of it lie on the same axis. Such
// relations give the factors: Imrich, Klavzar, "Product Graphs", 2000, section 4.
std::optional<LatticeGrid> grid_of(const Links& links);

} // namespace kumihimo::mapping
