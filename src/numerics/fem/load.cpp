#include "fem/load.hpp"

#include "fem/shape.hpp"

#include <cmath>

namespace kumihimo::fem {

void add_body_force(const Mesh& mesh, const std::function<Vector3(const double*)>& force, std::span<double> load) {
  for (std::int64_t e = 0; e < mesh.element_count(); ++e) {
    double points[corners][3], jacobian[3][3];
    gather_points(mesh.coordinates.data(), mesh.element(e), points);
    for (int g = 0; g < gauss_points; ++g) {
      jacobian_at(points, g, jacobian);
      const double weight = determinant(jacobian);
      double at[3] = {};
      for (int c = 0; c < corners; ++c)
        for (int a = 0; a < 3; ++a) at[a] += shape_value(c, g) * points[c][a];
      const Vector3 value = force(at);
      for (int c = 0; c < corners; ++c) {
        const std::int64_t n = mesh.element(e)[c];
        if (n >= mesh.owned) continue;
        for (std::size_t a = 0; a < 3; ++a)
          load[static_cast<std::size_t>(3 * n) + a] += weight * shape_value(c, g) * value[a];
      }
    }
  }
}

void add_traction(const Mesh& mesh, const Vector3& traction, std::span<double> load) {
  const NodeGrid& grid = mesh.grid;
  const std::int64_t across = grid.extent[0] - 1;
  if (grid.begin[0] + grid.extent[0] != grid.nodes[0]) return;
  for (std::int64_t e = across - 1; e < mesh.element_count(); e += across) {
    double points[corners][3];
    gather_points(mesh.coordinates.data(), mesh.element(e), points);
    for (int g = 0; g < 4; ++g) {
      // The shape functions of the corners of the face x = 1, numbers 1, 3, 5, 7, and two tangents.
      double value[4], tangents[2][3] = {};
      for (int f = 0; f < 4; ++f) {
        const int c = 2 * f + 1, point = 2 * g + 1;
        value[f] = weight_1d(c, point, 1) * weight_1d(c, point, 2);
        for (int a = 0; a < 3; ++a) {
          tangents[0][a] += (c >> 1 & 1 ? 0.5 : -0.5) * weight_1d(c, point, 2) * points[c][a];
          tangents[1][a] += (c >> 2 & 1 ? 0.5 : -0.5) * weight_1d(c, point, 1) * points[c][a];
        }
      }
      double square = 0;
      for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const double normal = tangents[0][b] * tangents[1][c] - tangents[0][c] * tangents[1][b];
        square += normal * normal;
      }
      const double area = std::sqrt(square);
      for (int f = 0; f < 4; ++f) {
        const std::int64_t n = mesh.element(e)[2 * f + 1];
        if (n >= mesh.owned) continue;
        for (std::size_t a = 0; a < 3; ++a) load[static_cast<std::size_t>(3 * n) + a] += area * value[f] * traction[a];
      }
    }
  }
}

} // namespace kumihimo::fem
