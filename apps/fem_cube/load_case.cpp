#include "fem_cube/load_case.hpp"

#include "fem/load.hpp"

#include <cmath>
#include <numbers>

namespace kumihimo::fem_cube {

using fem::Vector3;

namespace {

constexpr Vector3 stretched_by{0.01, 0, 0}, weight{0, 0, -1};

Vector3 linear_displacement(const double* x) {
  return {0.1 + 0.3 * x[0] - 0.2 * x[1] + 0.5 * x[2], -0.4 + 0.7 * x[0] + 0.1 * x[1], 0.6 * x[1] - 0.9 * x[2]};
}

// u = (s, 2 s, -s) with s = sin(pi x) sin(pi y) sin(pi z).
constexpr double pi = std::numbers::pi;
constexpr Vector3 direction{1, 2, -1};

Vector3 smooth_displacement(const double* x) {
  const double s = std::sin(pi * x[0]) * std::sin(pi * x[1]) * std::sin(pi * x[2]);
  return {direction[0] * s, direction[1] * s, direction[2] * s};
}

// -div sigma(u) = -(lambda + mu) grad div u - mu laplace u
Vector3 force_of_smooth(const double* x, double lambda, double mu) {
  double second[3][3]; // derivatives of s
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      second[a][b] = (a == b ? -1 : 1) * pi * pi;
      for (std::size_t c = 0; c < 3; ++c) {
        const bool derived_once = (c == a) != (c == b);
        second[a][b] *= derived_once ? std::cos(pi * x[c]) : std::sin(pi * x[c]);
      }
    }
  Vector3 force{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      force[i] -= (lambda + mu) * direction[k] * second[i][k] + mu * direction[i] * second[k][k];
  return force;
}

// With u = 0 on all faces a(u, u) is the integral of mu |grad u|^2 + (lambda + mu) (div u)^2. That of (ds/dx_a)^2 is
// pi^2 / 8 for each axis, that of a product of two different derivatives 0.
double energy_of_smooth(double lambda, double mu) {
  double square = 0;
  for (const double d : direction) square += d * d;
  return square * pi * pi / 8 * (3 * mu + lambda + mu);
}

fem::Constraints on_all_faces(const fem::Mesh& mesh, const std::function<Vector3(const double*)>& displacement) {
  fem::Constraints made = fem::no_constraints(mesh);
  const auto on_a_face = [nodes = mesh.grid.nodes](const fem::Triple& at) {
    for (std::size_t a = 0; a < 3; ++a)
      if (at[a] == 0 || at[a] == nodes[a] - 1) return true;
    return false;
  };
  fem::fix(made, mesh, on_a_face, displacement);
  return made;
}

} // namespace

LoadCase make_load_case(Load load, const fem::Mesh& mesh, const fem::Materials& materials) {
  LoadCase made;
  made.forces.resize(static_cast<std::size_t>(3 * mesh.owned));
  switch (load) {
  case Load::stretch: made.constraints = fem::stretched_cube(mesh, stretched_by); break;
  case Load::body_force:
    made.constraints = fem::fixed_face(mesh);
    fem::add_body_force(
        mesh, [](const double*) { return weight; }, made.forces);
    break;
  case Load::patch:
    made.exact = linear_displacement;
    made.constraints = on_all_faces(mesh, linear_displacement);
    break;
  case Load::manufactured: {
    const double lambda = materials.lambda[0], mu = materials.mu[0];
    made.exact = smooth_displacement;
    made.exact_energy = energy_of_smooth(lambda, mu);
    made.constraints = on_all_faces(mesh, [](const double*) { return Vector3{}; });
    fem::add_body_force(
        mesh, [=](const double* x) { return force_of_smooth(x, lambda, mu); }, made.forces);
    break;
  }
  }
  return made;
}

} // namespace kumihimo::fem_cube
