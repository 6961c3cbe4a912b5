// Several time steps in one pass over memory (temporal blocking): level t of a tile follows level t - 1 by one row of y
// and one cache line of x, so that the fields are still in a cache. H and Ez of a row are updated together.
#pragma once

#include "stencil/fdtd2d/fields.hpp"
#include "stencil/fdtd2d/source.hpp"

namespace kumihimo::fdtd2d {

struct FieldWavefront {
  int levels = 1;           // time steps of a pass, 1 or more
  std::int64_t columns = 1; // of x in a tile
  // On these sides level t also computes levels - 1 - t layers of ghosts; fields have as many layers as levels then.
  std::array<bool, 4> has_neighbour{}; // below and above along x, y
};

// `first`: the number of the pass's first step, for the source.
template <class T>
void run_wavefront(const Fields<T>& fields, const FieldWavefront& how, const WaveSource& source, std::int64_t first);

} // namespace kumihimo::fdtd2d
