// Several sweeps in one pass over memory (temporal blocking): level t of a tile follows level t - 1 by one plane of i
// and one row of j, so that coefficients and p are still in a cache.
#pragma once

#include "stencil/himeno/grid.hpp"

namespace kumihimo::himeno {

struct Wavefront {
  int levels = 1;        // sweeps of a pass, 1 or more
  std::int64_t rows = 1; // of j in a tile
  // Level t also computes levels - 1 - t layers of ghosts on these sides: with ghosts as deep as the levels a rank
  // needs none in between.
  std::array<bool, 6> has_neighbour{}; // below and above along i, j, k
};

// Afterwards p has the values after all levels. gosa: of each level the sums of rows.
void run_wavefront(HimenoGrid& grid, const Wavefront& how, double* gosa);

} // namespace kumihimo::himeno
