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
using SingleComplex = std::complex<float>;

// Where points are, in doubles, or in floats, as messages of half the bytes have them.
struct PointPointer {
  Complex* doubles = nullptr;
  SingleComplex* floats = nullptr; // else doubles

  PointPointer() = default;
  PointPointer(Complex* points) : doubles(points) {}
  PointPointer(SingleComplex* points) : floats(points) {}
  PointPointer operator+(std::int64_t count) const {
    return floats ? PointPointer(floats + count) : PointPointer(doubles + count);
  }
};

// Point (x, y, z) of band b is at first[b band + (x - begin x) plane + (y - begin y) row + z - begin z].
struct Brick {
  PointBox box;
  PointPointer first;
  std::int64_t plane = 0, row = 0, band = 0;
};

// Reals of a box without gaps, bands behind each other.
struct RealBrick {
  PointBox box;
  double* first = nullptr;
};

// A brick without gaps, bands behind each other.
Brick dense_brick(const PointBox& box, PointPointer first);
inline void copy_points(Complex* to, const Complex* from, std::int64_t count) {
  std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(count) * sizeof(Complex));
}
// To floats each part of a number is rounded to nearest: by at most 2^-24 of it, down to 2^-126.
void copy_points(PointPointer to, const Complex* from, std::int64_t count);
void copy_points(Complex* to, PointPointer from, std::int64_t count);
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
