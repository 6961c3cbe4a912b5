// Cartesian recognition: a torus, a mesh or a halo pattern in a graph, however its ranks are numbered.
#pragma once

#include "mapping/objective/graph.hpp"
#include "topology/shape.hpp"

#include <string>
#include <vector>

namespace kumihimo::mapping {

struct Lattice {
  Shape shape;                             // an axis that wraps is a ring in the graph
  std::vector<std::int32_t> place_of_rank; // row-major places of the shape, all different
  struct Offset {
    Coordinates step;
    double share = 0;       // of the ranks that have it, where it stays in the grid
    std::int64_t bytes = 0; // of all edges with it
  };
  std::vector<Offset> offsets; // most bytes first
  bool has_full_rows = false;  // all ranks of a row or column talk to each other: neither rings nor paths
  bool is_twisted = false;     // the columns of a torus of two axes are no rings: row 0 is shifted against the last one
  double covered = 0;          // share of all bytes on edges between neighbours: steps of -1, 0 or 1 on each axis
  std::string name() const;    // "torus 16x16x16, 26 neighbours"
};

// The grids that the graph is found to be, best first; none where it is no grid. Each is checked edge by edge. Of a
// torus of two axes with one diagonal, the ranks may be found to be twisted. O(edges x degree) per attempt.
std::vector<Lattice> recognise(const TrafficGraph& graph);

} // namespace kumihimo::mapping
