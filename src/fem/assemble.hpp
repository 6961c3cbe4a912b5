// What the variants of the assembly share: the order of colours, threads and elements. A row of the matrix gets at most
// one contribution of each colour, so its sums have one order on any number of threads.
#pragma once

#include "base/parameter.hpp"
#include "fem/element_task.hpp"
#include "fem/materials.hpp"
#include "fem/matrix.hpp"
#include "fem/mesh.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <cstdint>

namespace kumihimo::fem {

inline ElementTask element_task(const Mesh& mesh, const Materials& materials) {
  return {mesh.coordinates.data(),
          mesh.nodes.data(),
          mesh.by_colour.data(),
          materials.lambda.data(),
          materials.mu.data(),
          nullptr,
          nullptr,
          nullptr};
}
inline ElementTask element_task(const Mesh& mesh, const Materials& materials, Matrix& matrix) {
  ElementTask task = element_task(mesh, materials);
  task.row_begin = matrix.row_begin.data();
  task.columns = matrix.columns.data();
  task.values = matrix.values.data();
  return task;
}

// work(thread, its elements of the colour), colour by colour.
template <class Work>
void for_each_colour(const Mesh& mesh, Work work) {
  const int team = threads::count();
#pragma omp parallel num_threads(team)
  for (std::size_t c = 0; c < colours; ++c) {
    const std::int64_t begin = mesh.colour_begin[c], size = mesh.colour_begin[c + 1] - begin;
#pragma omp for schedule(static)
    for (int i = 0; i < team; ++i) {
      const threads::Range mine = threads::part(size, i, team);
      work(i, threads::Range{begin + mine.begin, begin + mine.end});
    }
  }
}

} // namespace kumihimo::fem
