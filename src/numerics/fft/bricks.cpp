#include "fft/bricks.hpp"

#include <algorithm>

namespace kumihimo::fft {
namespace {

// Calls copy(point in the brick, point in the block, number of points) for contiguous runs of both.
template <class Copy>
void for_each_run(const Brick& brick, std::int64_t band, const PointBox& box, Copy copy) {
  const PointBox both = common_box(brick.box, box);
  if (both.is_empty()) return;
  const Brick part = part_of(brick, both);
  const std::int64_t row = box.length(2), plane = row * box.length(1);
  std::int64_t lines = both.length(1), run = both.length(2);
  if (run == row && run == part.row) { // whole rows follow each other in both
    run *= lines;
    lines = 1;
  }
  PointPointer from = part.first + band * part.band;
  std::int64_t to =
      (both.begin[0] - box.begin[0]) * plane + (both.begin[1] - box.begin[1]) * row + both.begin[2] - box.begin[2];
  for (std::int64_t x = 0; x < both.length(0); ++x, from = from + part.plane, to += plane)
    for (std::int64_t line = 0; line < lines; ++line) copy(from + line * part.row, to + line * row, run);
}

// Calls copy(reals of the brick, place in the block) for each row.
template <class Copy>
void for_each_row(const RealBrick& brick, std::int64_t band, const PointBox& box, std::int64_t row, Copy copy) {
  const PointBox& own = brick.box;
  double* const first = brick.first + band * own.points() + box.begin[2] - own.begin[2];
  for (std::int64_t x = box.begin[0], place = 0; x < box.end[0]; ++x)
    for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y, place += row)
      copy(first + ((x - own.begin[0]) * own.length(1) + y - own.begin[1]) * own.length(2), place);
}

} // namespace

void copy_points(PointPointer to, const Complex* from, std::int64_t count) {
  if (!to.floats) return copy_points(to.doubles, from, count);
  for (std::int64_t i = 0; i < count; ++i)
    to.floats[i] = {static_cast<float>(from[i].real()), static_cast<float>(from[i].imag())};
}

void copy_points(Complex* to, PointPointer from, std::int64_t count) {
  if (!from.floats) return copy_points(to, from.doubles, count);
  for (std::int64_t i = 0; i < count; ++i) to[i] = from.floats[i];
}

Brick dense_brick(const PointBox& box, PointPointer first) {
  return {box, first, box.length(1) * box.length(2), box.length(2), box.points()};
}

Brick part_of(const Brick& brick, const PointBox& box) {
  Brick part = brick;
  part.box = box;
  part.first = part.first + (box.begin[0] - brick.box.begin[0]) * brick.plane +
               (box.begin[1] - brick.box.begin[1]) * brick.row + (box.begin[2] - brick.box.begin[2]);
  return part;
}

void gather(std::span<const Brick> bricks, std::int64_t band, const PointBox& box, Complex* block) {
  for (const Brick& brick : bricks)
    for_each_run(brick, band, box, [&](PointPointer point, std::int64_t place, std::int64_t count) {
      copy_points(block + place, point, count);
    });
}

void scatter(const Complex* block, const PointBox& box, std::int64_t band, std::span<const Brick> bricks) {
  for (const Brick& brick : bricks)
    for_each_run(brick, band, box, [&](PointPointer point, std::int64_t place, std::int64_t count) {
      copy_points(point, block + place, count);
    });
}

void gather_reals(const RealBrick& brick, std::int64_t band, const PointBox& box, std::int64_t row, double* block) {
  for_each_row(brick, band, box, row,
               [&](const double* reals, std::int64_t place) { std::copy_n(reals, box.length(2), block + place); });
}

void scatter_reals(const double* block, std::int64_t row, const PointBox& box, std::int64_t band,
                   const RealBrick& brick) {
  for_each_row(brick, band, box, row,
               [&](double* reals, std::int64_t place) { std::copy_n(block + place, box.length(2), reals); });
}

} // namespace kumihimo::fft
