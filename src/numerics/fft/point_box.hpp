// A box of the points of a grid in three dimensions; z, the last axis, is contiguous in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace kumihimo::fft {

using Triple = std::array<std::int64_t, 3>; // along x, y and z

struct PointBox {
  Triple begin{}, end{};

  std::int64_t length(std::size_t axis) const { return end[axis] - begin[axis]; }
  std::int64_t points() const { return length(0) * length(1) * length(2); }
  bool is_empty() const { return points() == 0; }
  bool operator==(const PointBox&) const = default;
};

inline PointBox whole_box(const Triple& points) { return {{0, 0, 0}, points}; }

inline PointBox common_box(const PointBox& a, const PointBox& b) {
  PointBox both;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    both.begin[axis] = std::max(a.begin[axis], b.begin[axis]);
    both.end[axis] = std::max(both.begin[axis], std::min(a.end[axis], b.end[axis]));
  }
  return both;
}

} // namespace kumihimo::fft
