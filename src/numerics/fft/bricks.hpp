// Boxes of points in memory, and copies between them and blocks. A stage of a transform reads its blocks from bricks
// and writes them to bricks: what would be loops of their own that pack and unpack messages is a part of it.
#pragma once

#include "fft/point_box.hpp"

#include <complex>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace kumihimo::fft {

using Complex = std::complex<double>;

// Point (x, y, z) of band b is at first[b band + (x - begin x) plane + (y - begin y) row + z - begin z].
struct Brick {
  PointBox box;
  Complex* first = nullptr;
  std::int64_t plane = 0, row = 0, band = 0;
};

// Reals of a box without gaps, bands behind each other.
struct RealBrick {
  PointBox box;
  double* first = nullptr;
};

// A brick without gaps, bands behind each other.
Brick dense_brick(const PointBox& box, Complex* first);
inline void copy_points(Complex* to, const Complex* from, std::int64_t count) {
  std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(count) * sizeof(Complex));
}
// The part of a brick in a box within its own.
Brick part_of(const Brick& brick, const PointBox& box);

// Copies the points of `box`, which the bricks cover together, to the dense array `block`, or back.
void gather(std::span<const Brick> bricks, std::int64_t band, const PointBox& box, Complex* block);
void scatter(const Complex* block, const PointBox& box, std::int64_t band, std::span<const Brick> bricks);
// The same of reals, whose rows are `row` reals apart in the block.
void gather_reals(const RealBrick& brick, std::int64_t band, const PointBox& box, std::int64_t row, double* block);
void scatter_reals(const double* block, std::int64_t row, const PointBox& box, std::int64_t band,
                   const RealBrick& brick);

} // namespace kumihimo::fft
