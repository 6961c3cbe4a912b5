// y += A x without a matrix, one element in each lane: strains of x at the Gauss points, stresses, and their integral
// against the strains of the shape functions. Derivatives along an axis take two interpolations (sum factorisation),
// not eight products a Gauss point.
#pragma once

#include "fem/shape.hpp"
#include "fem/simd/lanes.hpp"

namespace kumihimo::fem {
namespace {

template <int W>
void multiply_lanes(const ElementTask& task, std::int64_t begin, std::int64_t end, const double* x, double* y) {
  using V = Lanes<double, W>;
  for (std::int64_t first = begin; first < end; first += W) {
    const LaneGroup<W> group(task, first, end);
    V points[3][8], displacements[3][8], jacobians[3][3][4], derivatives[3][3][4];
    gather<W>(task.coordinates, group.nodes, points);
    gather<W>(x, group.nodes, displacements);
    all_derivatives(points, jacobians);
    all_derivatives(displacements, derivatives);
    V flux[3][3][4] = {};
    for (int g = 0; g < gauss_points; ++g) {
      V cofactor[3][3];
      const V inverse = 1.0 / cofactors(jacobians, g, cofactor);
      V gradient[3][3]; // [component][along x_a], times the determinant
      for (int i = 0; i < 3; ++i)
        for (int a = 0; a < 3; ++a)
          gradient[i][a] = derivatives[0][i][line_of(g, 0)] * cofactor[a][0] +
                           derivatives[1][i][line_of(g, 1)] * cofactor[a][1] +
                           derivatives[2][i][line_of(g, 2)] * cofactor[a][2];
      // The weight, the determinant, cancels one of the two inverses.
      const V mu = group.mu * inverse;
      const V pressure = group.lambda * inverse * (gradient[0][0] + gradient[1][1] + gradient[2][2]);
      V stress[3][3];
      for (int i = 0; i < 3; ++i)
        for (int a = 0; a < 3; ++a) stress[i][a] = mu * (gradient[i][a] + gradient[a][i]);
      for (int i = 0; i < 3; ++i) stress[i][i] += pressure;
      for (int d = 0; d < 3; ++d)
        for (int i = 0; i < 3; ++i)
          flux[d][i][line_of(g, d)] +=
              stress[i][0] * cofactor[0][d] + stress[i][1] * cofactor[1][d] + stress[i][2] * cofactor[2][d];
    }
    V force[3][8] = {};
    for (int i = 0; i < 3; ++i) {
      add_transposed_derivative(flux[0][i], 1, 2, 4, force[i]);
      add_transposed_derivative(flux[1][i], 2, 1, 4, force[i]);
      add_transposed_derivative(flux[2][i], 4, 1, 2, force[i]);
    }
    for (int c = 0; c < 8; ++c)
      for (int lane = 0; lane < group.count; ++lane) {
        double* const to = y + 3 * static_cast<std::int64_t>(group.nodes[lane][c]);
        for (int i = 0; i < 3; ++i) to[i] += force[i][c][lane];
      }
  }
}

} // namespace
} // namespace kumihimo::fem
