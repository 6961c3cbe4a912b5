// Mesh of trilinear hexahedra: coordinates, the eight nodes of each element, and eight colours. Elements of one colour
// share no node, so threads add them to the matrix without conflicts.
//
// Corner c of an element is at (c & 1, c >> 1 & 1, c >> 2 & 1) of its reference cube, whose sides are x, y, z.
#pragma once

#include "base/result.hpp"
#include "fem/grid.hpp"
#include "threads/array.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::fem {

inline constexpr int corners = 8, colours = 8;

struct Mesh {
  NodeGrid grid;
  std::int64_t owned = 0;                         // nodes whose rows this process has; ghosts follow
  threads::ThreadedArray<double> coordinates;     // 3 of each node, ghosts too
  threads::ThreadedArray<std::int32_t> nodes;     // 8 of each element; elements in natural order, x fastest
  threads::ThreadedArray<std::int32_t> by_colour; // elements, colour by colour
  std::array<std::int64_t, colours + 1> colour_begin{};
  std::vector<std::int64_t> global_elements; // number of an element in the whole cube

  std::int64_t node_count() const { return coordinates.size() / 3; }
  std::int64_t element_count() const { return nodes.size() / corners; }
  const std::int32_t* element(std::int64_t e) const { return nodes.data() + corners * e; }
  const double* node(std::int64_t n) const { return coordinates.data() + 3 * n; }
};

// The unit cube. Inner nodes move on each axis by at most `distortion` of the distance of nodes, by a hash of their
// global number: the same nodes wherever boxes end. 0 to 0.25. Errors: the distortion is out of range; an element is
// turned inside out; there is not enough memory.
Result<Mesh> make_mesh(const NodeGrid& grid, double distortion = 0);

// Error: an element's Jacobian is not positive at a Gauss point: says which.
Status check_jacobians(const Mesh& mesh);

} // namespace kumihimo::fem
