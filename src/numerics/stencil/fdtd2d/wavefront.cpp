#include "stencil/fdtd2d/wavefront.hpp"

#include "stencil/fdtd2d/row.hpp"
#include "threads/pipeline.hpp"

#include <algorithm>
#include <vector>

namespace kumihimo::fdtd2d {
namespace {

// Nodes whose Ez a level updates: those of the rank and the ghosts that later levels read.
NodeBox box_of(const FieldShape& shape, const FieldWavefront& how, int level) {
  NodeBox box = nodes_of_e(shape);
  const std::int64_t beyond = how.levels - 1 - level;
  for (std::size_t a = 0; a < 2; ++a) {
    if (how.has_neighbour[2 * a]) box.begin[a] -= beyond;
    if (how.has_neighbour[2 * a + 1]) box.end[a] += beyond;
  }
  return box;
}

} // namespace

template <class T>
void run_wavefront(const Fields<T>& f, const FieldWavefront& how, const WaveSource& source, std::int64_t first) {
  constexpr std::int64_t skew = 64 / sizeof(T); // a cache line, so that a tile's rows begin as all do
  const FieldShape& shape = f.shape();
  const NodeBox widest = places_of_h(box_of(shape, how, 0));
  const std::int64_t behind = how.levels - 1, width = widest.end[0] - widest.begin[0],
                     height = widest.end[1] - widest.begin[1];
  const std::int64_t all = width + skew * behind, team = threads::count(); // a tile for each thread at least
  const std::int64_t columns = std::min(how.columns, ((all + team - 1) / team + skew - 1) / skew * skew);
  const std::int64_t tiles = (all + columns - 1) / columns;
  std::vector<NodeBox> of_levels;
  for (int level = 0; level < how.levels; ++level) of_levels.push_back(box_of(shape, how, level));
  const Pair at{source.node[0] - shape.first[0], source.node[1] - shape.first[1]};
  constexpr std::int64_t ahead = 16; // rows
  const RowKernels<T>& row = rows<T>();
  threads::run_pipeline(tiles, height + behind, ahead, [&](std::int64_t tile, std::int64_t step) {
    for (int level = 0; level < how.levels; ++level) {
      const NodeBox &e = of_levels[static_cast<std::size_t>(level)], h = places_of_h(e);
      const std::int64_t y = widest.begin[1] + step - level;
      const std::int64_t low = widest.begin[0] + tile * columns - skew * level, high = low + columns;
      if (y < h.begin[1] || y >= h.end[1]) continue;
      const std::int64_t begin = std::max(low, h.begin[0]), end = std::min(high, h.end[0]);
      if (y < e.begin[1]) {
        row.h(f, y, begin, end);
        continue;
      }
      // Ghosts before the nodes of a level: only their H is read.
      const std::int64_t nodes = how.has_neighbour[0] ? std::clamp(e.begin[0], begin, std::max(begin, end)) : begin;
      row.h(f, y, begin, nodes);
      row.both(f, y, nodes, end);
      if (source.node[0] >= 0 && y == at[1] && at[0] >= nodes && at[0] < end)
        f.ez[f.at(at[0], y)] += static_cast<T>(source.added(first + level, shape.courant));
    }
  });
}

template void run_wavefront(const Fields<float>&, const FieldWavefront&, const WaveSource&, std::int64_t);
template void run_wavefront(const Fields<double>&, const FieldWavefront&, const WaveSource&, std::int64_t);

} // namespace kumihimo::fdtd2d
