// The grid of HPCG (Dongarra, Heroux, Luszczek, 2016): nx x ny x nz points, x fastest. Row i of the matrix belongs to
// point i; it has 26 on the diagonal and -1 for each of the up to 26 neighbours.
#pragma once

#include "base/result.hpp"

#include <cstdint>

namespace kumihimo::hpcg {

inline constexpr int level_count = 4; // of multigrid, the finest included

struct HpcgGrid {
  std::int64_t nx = 0, ny = 0, nz = 0;

  std::int64_t rows() const { return nx * ny * nz; }
  // In each direction every point has itself and two neighbours, but for those of the two ends, which have one.
  std::int64_t nonzeros() const { return (3 * nx - 2) * (3 * ny - 2) * (3 * nz - 2); }
  std::int64_t point(std::int64_t x, std::int64_t y, std::int64_t z) const { return (z * ny + y) * nx + x; }
  // Every second point in each direction.
  HpcgGrid coarse() const { return {nx / 2, ny / 2, nz / 2}; }
};

// Errors: a side that is no multiple of 8, less than 16 or more than 1024.
Status check(const HpcgGrid& grid);

// Bytes of a whole run: the reference matrices, the optimised ones, and the vectors.
std::int64_t bytes_of_run(const HpcgGrid& grid);

} // namespace kumihimo::hpcg
