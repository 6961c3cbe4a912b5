// Meshes and matrices of the tests, and a plain conjugate gradient method.
#pragma once

#include "fem/constraints.hpp"
#include "fem/materials.hpp"
#include "fem/matrix.hpp"
#include "fem/mesh.hpp"
#include "fem/product.hpp"
#include "fem/variants.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace kumihimo::fem {

struct Case {
  Mesh mesh;
  Materials materials;
  BlockMatrix matrix;
};

inline Case case_on(const NodeGrid& grid, double distortion = 0.2, double spread = 1) {
  Case made;
  made.mesh = make_mesh(grid, distortion).value();
  made.materials = varied_materials(made.mesh, 2.5, 0.3, spread).value();
  made.matrix = make_matrix(made.mesh).value();
  return made;
}
inline Case cube(std::int64_t n, double distortion = 0.2, double spread = 1) {
  return case_on(whole_cube(n).value(), distortion, spread);
}
inline Case assembled_cube(std::int64_t n, double distortion = 0.2, double spread = 1) {
  Case made = cube(n, distortion, spread);
  EXPECT_TRUE(assemble(assembly_variants()[0], made.mesh, made.materials, made.matrix).ok());
  return made;
}

inline std::vector<double> random_vector(std::int64_t size, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<double> made(static_cast<std::size_t>(size));
  for (double& value : made) value = any(engine);
  return made;
}

inline double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += x[i] * y[i];
  return sum;
}

using Apply = std::function<void(const double*, double*)>;

struct Solved {
  std::vector<double> x;
  int iterations = 0;
  bool positive = true; // p . A p > 0 in each iteration
  double residual = 0;  // relative
};

inline Solved conjugate_gradients(const Apply& product, const Apply& precondition, const std::vector<double>& load,
                                  double tolerance = 1e-12, int most = 2000) {
  const std::size_t n = load.size();
  std::vector<double> r = load, z(n), p(n), q(n);
  Solved solved{std::vector<double>(n)};
  const double start = std::sqrt(dot(load, load));
  double rho = 0;
  for (; solved.iterations < most && std::sqrt(dot(r, r)) > tolerance * start; ++solved.iterations) {
    precondition(r.data(), z.data());
    const double next = dot(r, z), beta = solved.iterations ? next / rho : 0;
    rho = next;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    product(p.data(), q.data());
    const double curvature = dot(p, q);
    solved.positive = solved.positive && curvature > 0 && rho > 0;
    const double alpha = rho / curvature;
    for (std::size_t i = 0; i < n; ++i) {
      solved.x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
  }
  solved.residual = std::sqrt(dot(r, r)) / start;
  return solved;
}

inline Solved solve(const Case& of, const std::vector<double>& load) {
  const auto copy = [&](const double* r, double* z) { std::copy_n(r, load.size(), z); };
  return conjugate_gradients([&](const double* x, double* y) { multiply(of.matrix, x, y); }, copy, load);
}

} // namespace kumihimo::fem
