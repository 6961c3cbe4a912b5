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

#include <algorithm>
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

// work(thread, elements, count), slab by slab: a slab is `layers` layers of elements along z, in lines along x, and of
// the slabs that share no node, first the even and then the odd ones, a thread takes whole ones. Within a slab a row of
// the matrix is finished while it is in a cache; eight colours read and write it eight times. A row's sums have one
// order on any number of threads. Error: there is not enough memory.
template <class Work>
Status for_each_slab(const Mesh& mesh, std::int64_t layers, Work work) {
  const Triple& extent = mesh.grid.extent;
  const std::int64_t across = extent[0] - 1, lines = extent[1] - 1, deep = extent[2] - 1;
  const std::int64_t slabs = (deep + layers - 1) / layers, most = across * lines * std::min(layers, deep);
  const int team = threads::count();
  threads::Array<std::int32_t> lists = TRY(threads::Array<std::int32_t>::zeros(most * team));
#pragma omp parallel num_threads(team)
  for (std::int64_t parity = 0; parity < 2; ++parity) {
#pragma omp for schedule(static)
    for (int i = 0; i < team; ++i) {
      std::int32_t* const list = lists.data() + most * i;
      const threads::Range mine = threads::part((slabs + 1 - parity) / 2, i, team);
      for (std::int64_t s = mine.begin; s < mine.end; ++s) {
        const std::int64_t low = (2 * s + parity) * layers, high = std::min(low + layers, deep);
        std::int64_t count = 0;
        for (std::int64_t y = 0; y < lines; ++y)
          for (std::int64_t z = low; z < high; ++z)
            for (std::int64_t x = 0; x < across; ++x)
              list[count++] = static_cast<std::int32_t>(x + across * (y + lines * z));
        work(i, list, count);
      }
    }
  }
  return Nothing{};
}

} // namespace kumihimo::fem
