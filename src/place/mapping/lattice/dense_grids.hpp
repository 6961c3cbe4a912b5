// Grids whose edges are more than those between neighbours on an axis.
#pragma once

#include "mapping/lattice/product_graph.hpp"

namespace kumihimo::mapping {

// Rows and columns in which each rank talks to each other, as the transpositions of a Fourier transform do: the product
// of two complete graphs. Two neighbours have common neighbours in their row (or column) alone. O(edges).
std::optional<LatticeGrid> rows_and_columns_of(const Links& links);

// A torus of two axes with one of its diagonals, as the multi-partition of BT and SP has: each vertex has six
// neighbours in a ring, and a straight way enters and leaves at opposite ones.
struct TriangularTorus {
  LatticeGrid grid;
  bool is_twisted = false; // behind the last row comes the first one, shifted: only rows are rings
};

// The tori of axes of length 4 or more that have two of the three directions as axes, none where there is none. Each is
// checked edge by edge. O(edges).
std::vector<TriangularTorus> triangular_tori_of(const Links& links);

} // namespace kumihimo::mapping
