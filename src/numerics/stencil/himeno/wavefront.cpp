#include "stencil/himeno/wavefront.hpp"

#include "stencil/himeno/row.hpp"
#include "threads/pipeline.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kumihimo::himeno {
namespace {

// The cells of a level: those of the rank and the ghosts that later levels read.
HimenoBox box_of(const HimenoGrid& g, const Wavefront& how, int level) {
  HimenoBox box = g.all();
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t beyond = how.levels - 1 - level;
    if (how.has_neighbour[2 * a]) box.begin[a] -= beyond;
    if (how.has_neighbour[2 * a + 1]) box.end[a] += beyond;
  }
  return box;
}

// A row of the level's box; only the rank's own cells count in gosa.
void update(const HimenoGrid& g, const float* p, float* to, const HimenoBox& box, std::int64_t i, std::int64_t j,
            double* gosa) {
  const HimenoBox own = g.all();
  const std::int64_t low = std::max(box.begin[2], own.begin[2]), high = std::min(box.end[2], own.end[2]);
  if (box.begin[2] < low) update_row(g, p, to, g.at(i, j, box.begin[2]), low - box.begin[2]);
  const double sum = update_row(g, p, to, g.at(i, j, low), high - low);
  if (high < box.end[2]) update_row(g, p, to, g.at(i, j, high), box.end[2] - high);
  if (i >= 0 && i < own.end[0] && j >= 0 && j < own.end[1]) gosa[g.row_number(i, j)] = sum;
}

} // namespace

void run_wavefront(HimenoGrid& g, const Wavefront& how, double* gosa) {
  const HimenoBox widest = box_of(g, how, 0);
  const std::int64_t behind = how.levels - 1;
  // Level t of a tile has rows [low - t, high - t), and plane s - t in step s.
  const std::int64_t all = widest.length(1) + behind, team = threads::count(); // a tile for each thread at least
  const std::int64_t rows = std::min(how.rows, (all + team - 1) / team);
  const std::int64_t tiles = (all + rows - 1) / rows;
  const std::int64_t steps = widest.length(0) + behind;
  std::vector<HimenoBox> of_levels;
  for (int level = 0; level < how.levels; ++level) of_levels.push_back(box_of(g, how, level));
  constexpr std::int64_t ahead = 2; // planes
  float* const buffers[2] = {g.p, g.next};
  threads::run_pipeline(tiles, steps, ahead, [&](std::int64_t tile, std::int64_t step) {
    for (int level = 0; level < how.levels; ++level) {
      const HimenoBox& box = of_levels[static_cast<std::size_t>(level)];
      const std::int64_t i = widest.begin[0] + step - level, first = widest.begin[1] + tile * rows - level;
      if (i < box.begin[0] || i >= box.end[0]) continue;
      const float* const p = buffers[level % 2];
      float* const to = buffers[(level + 1) % 2];
      for (std::int64_t j = std::max(first, box.begin[1]); j < std::min(first + rows, box.end[1]); ++j)
        update(g, p, to, box, i, j, gosa + level * g.rows());
    }
  });
  if (how.levels % 2 == 1) std::swap(g.p, g.next);
}

} // namespace kumihimo::himeno
