#include "plain_loops.hpp"

namespace kumihimo::plain {

void step(float* __restrict ez, float* __restrict hx, float* __restrict hy, long points, long row, float courant) {
#pragma omp parallel for schedule(static)
  for (long y = 0; y < points - 1; ++y)
    for (long x = 0; x < points - 1; ++x) {
      hx[y * row + x] -= courant * (ez[(y + 1) * row + x] - ez[y * row + x]);
      hy[y * row + x] += courant * (ez[y * row + x + 1] - ez[y * row + x]);
    }
#pragma omp parallel for schedule(static)
  for (long y = 1; y < points - 1; ++y)
    for (long x = 1; x < points - 1; ++x)
      ez[y * row + x] += courant * (hy[y * row + x] - hy[y * row + x - 1] - hx[y * row + x] + hx[(y - 1) * row + x]);
}

} // namespace kumihimo::plain
