// Shape functions of the trilinear hexahedron at the 2 x 2 x 2 Gauss points of the reference cube [-1, 1]^3, all of
// weight 1. Corners and Gauss points are numbered alike: number c is at the side c >> axis & 1 of each axis.
// Static: each file compiles its own for its instructions.
#pragma once

#include <cstdint>

namespace kumihimo::fem {

inline constexpr int gauss_points = 8;
// A linear shape function at the Gauss point on its own side and on the other: (1 +- 1 / sqrt 3) / 2.
inline constexpr double near_weight = 0.78867513459481288225, far_weight = 0.21132486540518711775;

static inline double weight_1d(int corner, int point, int axis) {
  return (corner >> axis & 1) == (point >> axis & 1) ? near_weight : far_weight;
}
// The value of a corner's shape function at a Gauss point.
static inline double shape_value(int corner, int point) {
  return weight_1d(corner, point, 0) * weight_1d(corner, point, 1) * weight_1d(corner, point, 2);
}
// Its derivative along an axis of the reference cube.
static inline double shape_derivative(int corner, int point, int axis) {
  const double half = corner >> axis & 1 ? 0.5 : -0.5;
  return half * weight_1d(corner, point, (axis + 1) % 3) * weight_1d(corner, point, (axis + 2) % 3);
}

struct ReferenceDerivatives {
  double of[gauss_points][8][3];
  constexpr ReferenceDerivatives() : of{} {
    for (int g = 0; g < gauss_points; ++g)
      for (int c = 0; c < 8; ++c)
        for (int a = 0; a < 3; ++a) {
          double value = c >> a & 1 ? 0.5 : -0.5;
          for (int b = 0; b < 3; ++b)
            if (b != a) value *= (c >> b & 1) == (g >> b & 1) ? near_weight : far_weight;
          of[g][c][a] = value;
        }
  }
};
inline constexpr ReferenceDerivatives reference_derivatives{};

static inline void gather_points(const double* coordinates, const std::int32_t* nodes, double points[8][3]) {
  for (int c = 0; c < 8; ++c)
    for (int a = 0; a < 3; ++a) points[c][a] = coordinates[3 * static_cast<std::int64_t>(nodes[c]) + a];
}

// jacobian[d][a]: derivative of coordinate a along axis d of the reference cube.
static inline void jacobian_at(const double points[8][3], int g, double jacobian[3][3]) {
  for (int d = 0; d < 3; ++d)
    for (int a = 0; a < 3; ++a) {
      double sum = 0;
      for (int c = 0; c < 8; ++c) sum += reference_derivatives.of[g][c][d] * points[c][a];
      jacobian[d][a] = sum;
    }
}

// cofactors[a][d] / determinant is the derivative of reference coordinate d along x_a.
static inline void cofactors_of(const double j[3][3], double cofactors[3][3]) {
  for (int a = 0; a < 3; ++a)
    for (int d = 0; d < 3; ++d) {
      const int a1 = (a + 1) % 3, a2 = (a + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
      cofactors[a][d] = j[d1][a1] * j[d2][a2] - j[d1][a2] * j[d2][a1];
    }
}
static inline double determinant(const double j[3][3]) {
  double cofactors[3][3];
  cofactors_of(j, cofactors);
  return j[0][0] * cofactors[0][0] + j[0][1] * cofactors[1][0] + j[0][2] * cofactors[2][0];
}

// gradients[a][c]: derivative of the shape function of corner c along x_a at Gauss point g. Returns the determinant.
static inline double gradients_at(const double points[8][3], int g, double gradients[3][8]) {
  double jacobian[3][3], cofactors[3][3];
  jacobian_at(points, g, jacobian);
  cofactors_of(jacobian, cofactors);
  const double det =
      jacobian[0][0] * cofactors[0][0] + jacobian[0][1] * cofactors[1][0] + jacobian[0][2] * cofactors[2][0];
  const double inverse = 1 / det;
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < 8; ++c) {
      const double* const d = reference_derivatives.of[g][c];
      gradients[a][c] = (cofactors[a][0] * d[0] + cofactors[a][1] * d[1] + cofactors[a][2] * d[2]) * inverse;
    }
  return det;
}

} // namespace kumihimo::fem
