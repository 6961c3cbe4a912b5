#include "fem/error_bound.hpp"

#include "fem/shape.hpp"

#include <cmath>
#include <limits>

namespace kumihimo::fem {
namespace {

double norm(const double (&m)[3][3]) {
  double square = 0;
  for (const auto& row : m)
    for (const double entry : row) square += entry * entry;
  return std::sqrt(square);
}

// 5 (9 rho + 27) kappa + 28; without rho of a translation.
struct Roundings {
  double of_entry, of_translation;
};
Roundings roundings(const double (&points)[corners][3], int g) {
  double jacobian[3][3], cofactors[3][3], sums[3][3];
  jacobian_at(points, g, jacobian);
  cofactors_of(jacobian, cofactors);
  for (int d = 0; d < 3; ++d)
    for (int a = 0; a < 3; ++a) {
      sums[d][a] = 0;
      for (int c = 0; c < corners; ++c) sums[d][a] += std::abs(reference_derivatives.of[g][c][d] * points[c][a]);
    }
  const double size = norm(jacobian), kappa = size * norm(cofactors) / determinant(jacobian), rho = norm(sums) / size;
  return {5 * (9 * rho + 27) * kappa + 28, 5 * 27 * kappa + 28};
}

} // namespace

ElementBound element_error_bound(const Mesh& mesh, const Materials& materials, std::int64_t element) {
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  double points[corners][3], gradients[3][corners];
  gather_points(mesh.coordinates.data(), mesh.element(element), points);
  const double stiffness = std::abs(materials.lambda[element]) + 3 * materials.mu[element];
  ElementBound bound{};
  for (int g = 0; g < gauss_points; ++g) {
    const double factor = 2 * u * stiffness * gradients_at(points, g, gradients);
    const Roundings count = roundings(points, g);
    double length[corners];
    for (int c = 0; c < corners; ++c) length[c] = std::hypot(gradients[0][c], gradients[1][c], gradients[2][c]);
    for (int p = 0; p < corners; ++p)
      for (int q = 0; q < corners; ++q) {
        bound.entries[p][q] += count.of_entry * factor * length[p] * length[q];
        bound.translations[p][q] += count.of_translation * factor * length[p] * length[q];
      }
  }
  return bound;
}

std::vector<double> assembly_error_bound(const Mesh& mesh, const Materials& materials, const BlockMatrix& structure) {
  std::vector<double> bound(static_cast<std::size_t>(structure.blocks()));
  for (std::int64_t e = 0; e < mesh.element_count(); ++e) {
    const ElementBound of_element = element_error_bound(mesh, materials, e);
    for (int p = 0; p < corners; ++p)
      for (int q = 0; q < corners; ++q)
        bound[static_cast<std::size_t>(structure.find(mesh.element(e)[p], mesh.element(e)[q]))] +=
            of_element.entries[p][q];
  }
  return bound;
}

double share_of_bound(const BlockMatrix& matrix, const BlockMatrix& golden, const std::vector<double>& bound) {
  double worst = 0;
  for (std::int64_t b = 0; b < golden.blocks(); ++b)
    for (int i = 0; i < 9; ++i) {
      const double share = std::abs(matrix.block(b)[i] - golden.block(b)[i]) / bound[static_cast<std::size_t>(b)];
      if (!(share <= worst)) worst = share;
      if (std::isnan(worst)) return worst;
    }
  return worst;
}

} // namespace kumihimo::fem
