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
inline ElementTask element_task(const Mesh& mesh, const Materials& materials, BlockMatrix& matrix) {
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
      const threads::IndexRange mine = threads::part(size, i, team);
      work(i, threads::IndexRange{begin + mine.begin, begin + mine.end});
    }
  }
}

// The elements of a mesh in pencils along x, of `lines` lines of elements along y. Pencils whose two numbers have the
// same parities share no node.
struct Pencils {
  std::int64_t lines;
  std::int64_t along_y, along_z; // how many there are

  std::int64_t of_parity(std::int64_t y, std::int64_t z) const {
    return (along_y + 1 - y) / 2 * ((along_z + 1 - z) / 2);
  }
};

// By the mesh alone, so that sums do not depend on the number of threads: the most lines that leave pencils for many
// threads at a time. Thinner pencils cost time, because rows of the matrix between two pencils go through memory twice.
inline Pencils pencils_of(const Mesh& mesh, std::int64_t layers) {
  constexpr std::int64_t most_lines = 64, least_lines = 4, at_a_time = 32;
  const auto pencils = [&](std::int64_t lines) {
    const auto number = [](std::int64_t size, std::int64_t part) { return (size + part - 1) / part; };
    return Pencils{lines, number(mesh.grid.extent[1] - 1, lines), number(mesh.grid.extent[2] - 1, layers)};
  };
  std::int64_t lines = most_lines;
  while (lines > least_lines && pencils(lines).of_parity(0, 0) < at_a_time) lines /= 2;
  return pencils(lines);
}

// work(thread, elements, count), pencil by pencil: of the pencils of two parities a thread takes whole ones. Within a
// pencil a row of the matrix is finished while it is in a cache; eight colours read and write it eight times. A row's
// sums have one order on any number of threads. Error: there is not enough memory.
template <class Work>
Status for_each_pencil(const Mesh& mesh, std::int64_t layers, Work work) {
  const Triple& extent = mesh.grid.extent;
  const std::int64_t across = extent[0] - 1, wide = extent[1] - 1, deep = extent[2] - 1;
  const Pencils pencils = pencils_of(mesh, layers);
  const std::int64_t most = across * std::min(pencils.lines, wide) * std::min(layers, deep);
  const int team = threads::count();
  threads::ThreadedArray<std::int32_t> lists = TRY(threads::ThreadedArray<std::int32_t>::zeros(most * team));
  const auto list_pencil = [&](std::int64_t y_pencil, std::int64_t z_pencil, std::int32_t* list) {
    const std::int64_t low_y = y_pencil * pencils.lines, low_z = z_pencil * layers;
    std::int64_t count = 0;
    for (std::int64_t y = low_y; y < std::min(low_y + pencils.lines, wide); ++y)
      for (std::int64_t z = low_z; z < std::min(low_z + layers, deep); ++z)
        for (std::int64_t x = 0; x < across; ++x)
          list[count++] = static_cast<std::int32_t>(x + across * (y + wide * z));
    return count;
  };
#pragma omp parallel num_threads(team)
  for (std::int64_t parities = 0; parities < 4; ++parities) {
    const std::int64_t odd_y = parities & 1, odd_z = parities >> 1;
#pragma omp for schedule(static)
    for (int i = 0; i < team; ++i) {
      std::int32_t* const list = lists.data() + most * i;
      const std::int64_t in_layer = (pencils.along_y + 1 - odd_y) / 2;
      const threads::IndexRange mine = threads::part(pencils.of_parity(odd_y, odd_z), i, team);
      for (std::int64_t pencil = mine.begin; pencil < mine.end; ++pencil)
        work(i, list, list_pencil(2 * (pencil % in_layer) + odd_y, 2 * (pencil / in_layer) + odd_z, list));
    }
  }
  return Nothing{};
}

} // namespace kumihimo::fem
