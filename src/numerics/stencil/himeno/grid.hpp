// The arrays of the Himeno benchmark (R. Himeno, RIKEN, 1996): pressure p, coefficients a, b and c, the mask bnd and
// the right-hand side wrk1, on the cells of one rank with ghosts around them. The pure part: no MPI.
//
// Axes are i, j and k as in the benchmark; k is contiguous. Cells are [0, cells); ghosts and the fixed boundary lie
// below 0 and from `cells` on. A grid of the benchmark of 128 x 128 x 256 points has 126 x 126 x 254 cells.
#pragma once

#include "base/result.hpp"
#include "threads/array.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kumihimo::himeno {

using Triple = std::array<std::int64_t, 3>;

struct HimenoBox {
  Triple begin{}, end{};
  std::int64_t length(std::size_t axis) const { return end[axis] - begin[axis]; }
  bool is_empty() const { return length(0) <= 0 || length(1) <= 0 || length(2) <= 0; }
  std::int64_t cells() const { return is_empty() ? 0 : length(0) * length(1) * length(2); }
};

constexpr float omega = 0.8F;
constexpr int flops_of_cell = 34; // as the benchmark counts
// Floats that a sweep moves for a cell: 12 of the coefficients, p, and the new p with the read that fills its line.
constexpr int bytes_of_cell = 15 * 4;

struct GridShape {
  Triple points{};         // of the whole grid, with its boundary
  Triple first{}, cells{}; // cells of this rank: [first, first + cells) of the whole
  std::int64_t layers = 1; // of ghosts, on all sides
  bool varied = false;     // values that differ from cell to cell instead of the benchmark's
};

class HimenoGrid {
 public:
  // The benchmark's initial values: p = (i / (points along i - 1))^2, a = 1, 1, 1, 1/6, b = 0, c = 1, bnd = 1, wrk1 =
  // 0. Varied: other numbers by the place in the whole grid, so that a wrong neighbour of any of the 19 shows. Written
  // by the threads of the team, planes of i in equal parts. Error: there is not enough memory.
  static Result<HimenoGrid> make(const GridShape& shape);
  static double bytes(const GridShape& shape);

  const GridShape& shape() const { return shape_; }
  HimenoBox all() const { return {{0, 0, 0}, shape_.cells}; }
  std::int64_t row() const { return row_; }     // from j to j + 1
  std::int64_t plane() const { return plane_; } // from i to i + 1
  std::int64_t padding() const { return row_ - shape_.cells[2] - 2 * shape_.layers; }
  std::int64_t at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    const std::int64_t L = shape_.layers;
    return (i + L) * plane_ + (j + L) * row_ + k + L;
  }
  // Of the sums of residuals: one for each row of cells.
  std::int64_t row_number(std::int64_t i, std::int64_t j) const { return i * shape_.cells[1] + j; }
  std::int64_t rows() const { return shape_.cells[0] * shape_.cells[1]; }
  std::int64_t size() const { return plane_ * (shape_.cells[0] + 2 * shape_.layers); } // elements of an array

  float *p = nullptr, *next = nullptr; // next: the values after the sweep
  std::array<float*, 4> a{};
  std::array<float*, 3> b{}, c{};
  float *bnd = nullptr, *wrk1 = nullptr;

 private:
  void initialise();
  void vary(std::int64_t i); // plane i, ghosts included
  GridShape shape_;
  std::int64_t row_ = 0, plane_ = 0;
  threads::ThreadedArray<float> memory_;
};

// The benchmark's names XS, S, M, L, XL, or points along i, j and k: 64 or 128x128x256. Error: neither, or less than 3
// points along an axis.
Result<Triple> parse_size(std::string_view text);

} // namespace kumihimo::himeno
