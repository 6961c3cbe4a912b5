#include "fem/golden.hpp"

#include "fem/shape.hpp"

namespace kumihimo::fem {
namespace {

using Elasticity = double[6][6]; // stress of strain, in the order xx, yy, zz, xy, yz, zx
using StrainOfDisplacements = double[6][24];

void elasticity(double lambda, double mu, Elasticity& d) {
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) d[i][j] = (i < 3 && j < 3 ? lambda : 0) + (i == j ? (i < 3 ? 2 * mu : mu) : 0);
}

void strain_of_displacements(const double (&gradients)[3][8], StrainOfDisplacements& b) {
  for (auto& row : b)
    for (double& entry : row) entry = 0;
  for (int c = 0; c < corners; ++c) {
    const double x = gradients[0][c], y = gradients[1][c], z = gradients[2][c];
    b[0][3 * c] = x;
    b[1][3 * c + 1] = y;
    b[2][3 * c + 2] = z;
    b[3][3 * c] = y, b[3][3 * c + 1] = x;
    b[4][3 * c + 1] = z, b[4][3 * c + 2] = y;
    b[5][3 * c] = z, b[5][3 * c + 2] = x;
  }
}

// k += weight b^T (d b)
void add_gauss_point(const StrainOfDisplacements& b, const Elasticity& d, double weight, Stiffness& k) {
  StrainOfDisplacements stress{};
  for (int s = 0; s < 6; ++s)
    for (int t = 0; t < 6; ++t)
      for (int j = 0; j < 24; ++j) stress[s][j] += weight * d[s][t] * b[t][j];
  for (int i = 0; i < 24; ++i)
    for (int s = 0; s < 6; ++s)
      for (int j = 0; j < 24; ++j) k[i][j] += b[s][i] * stress[s][j];
}

} // namespace

void stiffness_golden(const Mesh& mesh, const Materials& materials, std::int64_t element, Stiffness& stiffness) {
  double points[corners][3];
  gather_points(mesh.coordinates.data(), mesh.element(element), points);
  Elasticity d;
  elasticity(materials.lambda[element], materials.mu[element], d);
  for (auto& row : stiffness)
    for (double& entry : row) entry = 0;
  for (int g = 0; g < gauss_points; ++g) {
    double gradients[3][8];
    const double weight = gradients_at(points, g, gradients);
    StrainOfDisplacements b;
    strain_of_displacements(gradients, b);
    add_gauss_point(b, d, weight, stiffness);
  }
}

void assemble_golden(const Mesh& mesh, const Materials& materials, BlockMatrix& matrix) {
  for (std::int64_t e = 0; e < mesh.element_count(); ++e) {
    Stiffness k;
    stiffness_golden(mesh, materials, e, k);
    for (int i = 0; i < corners; ++i)
      for (int j = 0; j < corners; ++j) {
        double* const block = matrix.block(matrix.find(mesh.element(e)[i], mesh.element(e)[j]));
        for (int a = 0; a < 3; ++a)
          for (int c = 0; c < 3; ++c) block[3 * a + c] += k[3 * i + a][3 * j + c];
      }
  }
}

} // namespace kumihimo::fem
