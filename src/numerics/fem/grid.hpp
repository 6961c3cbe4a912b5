// The part of a cube's nodes that one process owns: a box of a grid of nodes, and one layer of ghost nodes around it
// where the grid goes on. A process computes every element that touches a node of its box, so its rows of the matrix
// are complete without messages; elements between two boxes are computed on both sides.
//
// Local numbers: the nodes of the box first, x fastest, then the ghosts, x fastest. Layout: GeoFEM's local data
// structure (Nakajima, Parallel Computing 29 (2003)), for boxes.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kumihimo::fem {

using Triple = std::array<std::int64_t, 3>; // x, y, z

struct NodeGrid {
  Triple nodes{};  // of the whole cube, on each axis
  Triple low{};    // first node of the box
  Triple box{};    // nodes of the box, on each axis
  Triple begin{};  // first local node: low, or the ghost before it
  Triple extent{}; // local nodes on each axis, ghosts included

  std::int64_t owned() const { return box[0] * box[1] * box[2]; }
  std::int64_t local() const { return extent[0] * extent[1] * extent[2]; }
  std::int64_t ghosts() const { return local() - owned(); }
  std::int64_t elements() const { return (extent[0] - 1) * (extent[1] - 1) * (extent[2] - 1); }

  // Number of a node of the whole cube, x fastest.
  std::int64_t global(const Triple& at) const { return at[0] + nodes[0] * (at[1] + nodes[1] * at[2]); }
  bool owns(const Triple& at) const;
};

// One process: n x n x n nodes. Error: fewer than 2 nodes an axis, or more elements than 32-bit numbers count.
Result<NodeGrid> whole_cube(std::int64_t n);
// The box of `box` nodes from node `low` on of a cube of `nodes`. Error: fewer than 2 nodes an axis of the cube, a box
// that is empty or outside, or more nodes with ghosts than 32-bit numbers count.
Result<NodeGrid> part_of_cube(const Triple& nodes, const Triple& low, const Triple& box);
// Process `at` of a grid of `processes`, each with `box` nodes.
Result<NodeGrid> box_of_cube(const Triple& box, const Triple& processes, const Triple& at);

// A local node and its cell in the box that a halo exchange of one layer moves: (x + 2)(y + 2)(z + 2) cells, x fastest,
// of which the outer ones are ghosts.
struct HaloCell {
  std::int32_t node;
  std::int64_t cell;
};
struct HaloCells {
  std::vector<HaloCell> sent;     // nodes of the box beside a ghost
  std::vector<HaloCell> received; // ghosts
};
HaloCells halo_cells(const NodeGrid& grid);

// Local numbers of the nodes of begin + extent, x fastest.
std::vector<std::int32_t> local_numbers(const NodeGrid& grid);

} // namespace kumihimo::fem
