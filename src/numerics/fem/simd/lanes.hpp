// What loops that have one element in each of W lanes share. For files of simd/ only (base/lanes.hpp).
#pragma once

#include "base/lanes.hpp"
#include "fem/element_task.hpp"

#include <cstdint>

namespace kumihimo::fem {
namespace {

constexpr double near_side = 0.78867513459481288225, far_side = 0.21132486540518711775;

// The derivative of a trilinear field along the axis of stride `a`, on the four lines of Gauss points along it, which
// the other axes (strides b and c) number: derivative[gb + 2 gc]. A derivative is constant along its own axis.
template <class V>
KUMIHIMO_INLINE void derivative_along(const V* field, int a, int b, int c, V derivative[4]) {
  V line[4];
  for (int side = 0; side < 2; ++side) {
    const V first = field[a + side * c] - field[side * c];
    const V second = field[a + b + side * c] - field[b + side * c];
    line[2 * side] = (near_side / 2) * first + (far_side / 2) * second;
    line[2 * side + 1] = (far_side / 2) * first + (near_side / 2) * second;
  }
  for (int i = 0; i < 2; ++i) {
    derivative[i] = near_side * line[i] + far_side * line[2 + i];
    derivative[2 + i] = far_side * line[i] + near_side * line[2 + i];
  }
}

// Its transpose: adds to the values of the corners what the four lines contribute.
template <class V>
KUMIHIMO_INLINE void add_transposed_derivative(const V derivative[4], int a, int b, int c, V* field) {
  for (int side = 0; side < 2; ++side) {
    const double to0 = side == 0 ? near_side : far_side, to1 = side == 0 ? far_side : near_side;
    const V low = to0 * derivative[0] + to1 * derivative[2];
    const V high = to0 * derivative[1] + to1 * derivative[3];
    const V first = (near_side / 2) * low + (far_side / 2) * high;
    const V second = (far_side / 2) * low + (near_side / 2) * high;
    field[a + side * c] += first;
    field[side * c] -= first;
    field[a + b + side * c] += second;
    field[b + side * c] -= second;
  }
}

// derivatives[axis][component][line] of the vector field [component][corner].
template <class V>
KUMIHIMO_INLINE void all_derivatives(const V field[3][8], V derivatives[3][3][4]) {
  for (int component = 0; component < 3; ++component) {
    derivative_along(field[component], 1, 2, 4, derivatives[0][component]);
    derivative_along(field[component], 2, 1, 4, derivatives[1][component]);
    derivative_along(field[component], 4, 1, 2, derivatives[2][component]);
  }
}

// The line of Gauss point g along each axis.
KUMIHIMO_INLINE int line_of(int g, int axis) {
  const int x = g & 1, y = g >> 1 & 1, z = g >> 2;
  return axis == 0 ? y + 2 * z : axis == 1 ? x + 2 * z : x + 2 * y;
}

// cofactor[a][d] / determinant: derivative of reference coordinate d along x_a. Returns the determinant.
template <class V>
KUMIHIMO_INLINE V cofactors(const V jacobians[3][3][4], int g, V cofactor[3][3]) {
  V j[3][3];
  for (int d = 0; d < 3; ++d)
    for (int a = 0; a < 3; ++a) j[d][a] = jacobians[d][a][line_of(g, d)];
  for (int a = 0; a < 3; ++a)
    for (int d = 0; d < 3; ++d) {
      const int a1 = (a + 1) % 3, a2 = (a + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
      cofactor[a][d] = j[d1][a1] * j[d2][a2] - j[d1][a2] * j[d2][a1];
    }
  return j[0][0] * cofactor[0][0] + j[0][1] * cofactor[1][0] + j[0][2] * cofactor[2][0];
}

// Values [component][corner] of 3 numbers of each node, one element a lane.
template <int W>
KUMIHIMO_INLINE void gather(const double* values, const std::int32_t* const* nodes, Lanes<double, W> field[3][8]) {
  for (int c = 0; c < 8; ++c) {
    double from[3][W];
    for (int lane = 0; lane < W; ++lane) {
      const double* const at = values + 3 * static_cast<std::int64_t>(nodes[lane][c]);
      for (int a = 0; a < 3; ++a) from[a][lane] = at[a];
    }
    for (int a = 0; a < 3; ++a) field[a][c] = load<Lanes<double, W>>(from[a]);
  }
}

// The elements of the lanes: those of a range, the last one again where it ends.
template <int W>
struct LaneGroup {
  const std::int32_t* nodes[W];
  Lanes<double, W> lambda, mu;
  int count; // lanes in use

  KUMIHIMO_INLINE LaneGroup(const ElementTask& task, std::int64_t first, std::int64_t end) {
    count = static_cast<int>(end - first < W ? end - first : W);
    double l[W], m[W];
    for (int lane = 0; lane < W; ++lane) {
      const std::int64_t e = task.elements[first + (lane < count ? lane : count - 1)];
      nodes[lane] = task.nodes + 8 * e;
      l[lane] = task.lambda[e];
      m[lane] = task.mu[e];
    }
    lambda = load<Lanes<double, W>>(l);
    mu = load<Lanes<double, W>>(m);
  }
};

} // namespace
} // namespace kumihimo::fem
