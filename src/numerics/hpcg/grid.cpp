#include "hpcg/grid.hpp"

#include <string>

namespace kumihimo::hpcg {

Status check(const HpcgGrid& grid) {
  for (const std::int64_t side : {grid.nx, grid.ny, grid.nz})
    if (side % 8 != 0 || side < 16 || side > 1024)
      return wrong_value("each side of the grid must be a multiple of 8 from 16 to 1024", side,
                         "write for example 104, or 104x104x104");
  return Nothing{};
}

std::int64_t bytes_of_run(const HpcgGrid& grid) {
  std::int64_t bytes = 0;
  HpcgGrid level = grid;
  for (int i = 0; i < level_count; ++i, level = level.coarse()) {
    const std::int64_t rows = level.rows();
    const std::int64_t reference = 27 * 12 + 16, optimised = 26 * 12 * 107 / 100 + 16 + 12,
                       restricted = 26 * 12 / 8 + 1;
    bytes += rows * (reference + optimised + restricted + 6 * 8);
  }
  return bytes + grid.rows() * 10 * 8;
}

} // namespace kumihimo::hpcg
