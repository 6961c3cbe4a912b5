// What the matrix must be by mechanics: independent of how it is computed.
#include "cases.hpp"
#include "fem/load.hpp"
#include "fem/shape.hpp"

#include <algorithm>
#include <numbers>

namespace kumihimo::fem {
namespace {

// Displacements of every node.
std::vector<double> field(const Mesh& mesh, const std::function<Vector3(const double*)>& of) {
  std::vector<double> made;
  for (std::int64_t n = 0; n < mesh.node_count(); ++n) {
    const Vector3 value = of(mesh.node(n));
    made.insert(made.end(), value.begin(), value.end());
  }
  return made;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

Vector3 linear(const double* x) {
  return {0.1 + 0.3 * x[0] - 0.2 * x[1] + 0.5 * x[2], -0.4 + 0.7 * x[0] + 0.1 * x[1], 0.6 * x[1] - 0.9 * x[2]};
}

bool on_boundary(const Triple& at, std::int64_t n) {
  return std::any_of(at.begin(), at.end(), [=](std::int64_t i) { return i == 0 || i == n - 1; });
}

// A displacement linear in x, y, z prescribed on the boundary must be found inside, whatever the shapes of elements:
// to 1e-10, by conjugate gradients to 1e-12.
TEST(Elasticity, PassesThePatchTestOnADistortedMesh) {
  for (const std::int64_t n : {3, 4, 7}) {
    Case given = assembled_cube(n, 0.25, 0);
    Constraints constraints = no_constraints(given.mesh);
    fix(
        constraints, given.mesh, [=](const Triple& at) { return on_boundary(at, n); }, linear);
    std::vector<double> load(static_cast<std::size_t>(3 * given.mesh.owned));
    ASSERT_TRUE(eliminate(constraints, given.matrix, load).ok());
    const Solved solved = solve(given, load);
    EXPECT_LE(solved.residual, 1e-12);
    EXPECT_TRUE(solved.positive);
    const std::vector<double> exact = field(given.mesh, linear);
    for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(solved.x[i], exact[i], 1e-10);
  }
}

// Three translations and three rotations strain nothing: A u = 0 but for rounding. A row has 81 products; each is off
// by about 100 roundings (error_bound.hpp).
TEST(Elasticity, RigidBodyModesAreInTheNullSpace) {
  const Case given = assembled_cube(6, 0.25, 2);
  const double bound = 81 * 100 * 0x1p-53 * largest({given.matrix.values.begin(), given.matrix.values.end()});
  const std::function<Vector3(const double*)> modes[] = {
      [](const double*) { return Vector3{1, 0, 0}; },          [](const double*) { return Vector3{0, 1, 0}; },
      [](const double*) { return Vector3{0, 0, 1}; },          [](const double* x) { return Vector3{-x[1], x[0], 0}; },
      [](const double* x) { return Vector3{0, -x[2], x[1]}; }, [](const double* x) { return Vector3{x[2], 0, -x[0]}; }};
  std::vector<double> forces(static_cast<std::size_t>(3 * given.mesh.owned));
  for (const auto& mode : modes) {
    multiply_golden(given.matrix, field(given.mesh, mode).data(), forces.data());
    EXPECT_LE(largest(forces), bound);
  }
  // A stretch is none of them.
  multiply_golden(given.matrix,
                  field(given.mesh,
                        [](const double* x) {
                          return Vector3{x[0], 0, 0};
                        })
                      .data(),
                  forces.data());
  EXPECT_GT(largest(forces), 1e6 * bound);
}

std::vector<std::vector<double>> dense(const BlockMatrix& matrix) {
  const auto size = static_cast<std::size_t>(3 * matrix.owned);
  std::vector<std::vector<double>> made(size, std::vector<double>(size));
  for (std::int64_t n = 0; n < matrix.owned; ++n)
    for (std::int32_t at = matrix.row_begin[n]; at < matrix.row_begin[n + 1]; ++at)
      for (int a = 0; a < 3; ++a)
        for (int c = 0; c < 3; ++c)
          made[static_cast<std::size_t>(3 * n + a)][static_cast<std::size_t>(3 * matrix.columns[at] + c)] =
              matrix.block(at)[3 * a + c];
  return made;
}

// By Jacobi's rotations (Golub and Van Loan, section 8.5).
std::vector<double> eigenvalues(std::vector<std::vector<double>> a) {
  const std::size_t n = a.size();
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        off = std::max(off, std::abs(a[p][q]));
        if (a[p][q] == 0) continue;
        const double tau = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double c = 1 / std::sqrt(1 + t * t), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double left = a[k][p], right = a[k][q];
          a[k][p] = c * left - s * right;
          a[k][q] = s * left + c * right;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double left = a[p][k], right = a[q][k];
          a[p][k] = c * left - s * right;
          a[q][k] = s * left + c * right;
        }
      }
    if (off < 1e-13) break;
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(a[i][i]);
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Elasticity, HasExactlySixZeroEigenvaluesAndNoneOnceAFaceIsFixed) {
  Case given = assembled_cube(3);
  std::vector<double> values = eigenvalues(dense(given.matrix));
  EXPECT_LT(std::abs(values[0]), 1e-13);
  EXPECT_LT(std::abs(values[5]), 1e-13);
  EXPECT_GT(values[6], 1e-3);
  std::vector<double> load(static_cast<std::size_t>(3 * given.mesh.owned));
  ASSERT_TRUE(eliminate(fixed_face(given.mesh), given.matrix, load).ok());
  values = eigenvalues(dense(given.matrix));
  EXPECT_GT(values[0], 1e-3);
}

TEST(Elasticity, IsSymmetricBeforeAndAfterElimination) {
  Case given = assembled_cube(4, 0.25, 2);
  std::vector<double> load(static_cast<std::size_t>(3 * given.mesh.owned));
  for (const bool eliminated : {false, true}) {
    if (eliminated) {
      ASSERT_TRUE(eliminate(stretched_cube(given.mesh, {0.1, 0, 0}), given.matrix, load).ok());
    }
    const std::vector<std::vector<double>> a = dense(given.matrix);
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) EXPECT_NEAR(a[i][j], a[j][i], 1e-14);
  }
}

// A uniform pull on the face x = 1, with Poisson's ratio 0: u = (x t / E, 0, 0) exactly.
TEST(Elasticity, APullStretchesABarByHookesLaw) {
  Case given;
  given.mesh = make_mesh(whole_cube(5).value(), 0.2).value();
  given.materials = varied_materials(given.mesh, 2.5, 0).value();
  given.matrix = make_matrix(given.mesh).value();
  ASSERT_TRUE(assemble(assembly_variants()[0], given.mesh, given.materials, given.matrix).ok());
  std::vector<double> load(static_cast<std::size_t>(3 * given.mesh.owned));
  add_traction(given.mesh, {0.5, 0, 0}, load);
  double total = 0;
  for (std::size_t i = 0; i < load.size(); i += 3) total += load[i];
  EXPECT_NEAR(total, 0.5, 1e-14);
  ASSERT_TRUE(eliminate(fixed_face(given.mesh), given.matrix, load).ok());
  const Solved solved = solve(given, load);
  const std::vector<double> exact = field(given.mesh, [](const double* x) { return Vector3{0.2 * x[0], 0, 0}; });
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(solved.x[i], exact[i], 1e-10);
}

// u = (s, 2 s, -s), s = sin(pi x) sin(pi y) sin(pi z), and the force -div sigma(u) that makes it the solution.
constexpr double pi = std::numbers::pi, direction[3] = {1, 2, -1};

struct Manufactured {
  double lambda, mu;
  double gradient(const double* x, int i, int a) const { // of component i along x_a
    double value = direction[i] * pi;
    for (int b = 0; b < 3; ++b) value *= a == b ? std::cos(pi * x[b]) : std::sin(pi * x[b]);
    return value;
  }
  Vector3 force(const double* x) const {
    double second[3][3]; // of s
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        second[a][b] = (a == b ? -1 : 1) * pi * pi;
        for (int c = 0; c < 3; ++c) {
          const bool derived = (c == a) != (c == b);
          second[a][b] *= derived ? std::cos(pi * x[c]) : std::sin(pi * x[c]);
        }
      }
    Vector3 made{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k)
        made[i] -= (lambda + mu) * direction[k] * second[i][k] + mu * direction[i] * second[k][k];
    return made;
  }
};

struct Errors {
  double energy; // squared norm a(u - uh, u - uh), by 3 x 3 x 3 Gauss points
  double nodal;  // largest at a node
};

// Strain energy product of a displacement gradient with itself.
double energy_density(const double (&h)[3][3], double lambda, double mu) {
  double trace = 0, square = 0;
  for (int i = 0; i < 3; ++i) {
    trace += h[i][i];
    for (int a = 0; a < 3; ++a) square += 0.5 * (h[i][a] + h[a][i]) * (h[i][a] + h[a][i]);
  }
  return lambda * trace * trace + mu * square;
}

Errors errors_of(const Case& given, const std::vector<double>& u, const Manufactured& exact) {
  Errors errors{};
  for (std::int64_t n = 0; n < given.mesh.owned; ++n) {
    const double* const x = given.mesh.node(n);
    const double s = std::sin(pi * x[0]) * std::sin(pi * x[1]) * std::sin(pi * x[2]);
    for (std::size_t a = 0; a < 3; ++a)
      errors.nodal = std::max(errors.nodal, std::abs(u[static_cast<std::size_t>(3 * n) + a] - direction[a] * s));
  }
  const double place[3] = {-std::sqrt(0.6), 0, std::sqrt(0.6)}, weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
  for (std::int64_t e = 0; e < given.mesh.element_count(); ++e)
    for (int g = 0; g < 27; ++g) {
      const int index[3] = {g % 3, g / 3 % 3, g / 9};
      double j[3][3] = {}, at[3] = {}, slopes[corners][3], cofactor[3][3];
      for (int c = 0; c < corners; ++c) {
        double side[3], value = 1;
        for (int a = 0; a < 3; ++a) {
          side[a] = 0.5 * (1 + ((c >> a & 1) ? 1 : -1) * place[index[a]]);
          value *= side[a];
        }
        for (int a = 0; a < 3; ++a) slopes[c][a] = ((c >> a & 1) ? 0.5 : -0.5) * side[(a + 1) % 3] * side[(a + 2) % 3];
        const double* const x = given.mesh.node(given.mesh.element(e)[c]);
        for (int a = 0; a < 3; ++a) {
          at[a] += value * x[a];
          for (int d = 0; d < 3; ++d) j[d][a] += slopes[c][d] * x[a];
        }
      }
      cofactors_of(j, cofactor);
      const double det = determinant(j);
      double h[3][3];
      for (int i = 0; i < 3; ++i)
        for (int a = 0; a < 3; ++a) {
          h[i][a] = exact.gradient(at, i, a);
          for (int c = 0; c < corners; ++c)
            for (int d = 0; d < 3; ++d)
              h[i][a] -=
                  cofactor[a][d] * slopes[c][d] / det * u[static_cast<std::size_t>(3 * given.mesh.element(e)[c] + i)];
        }
      errors.energy +=
          weight[index[0]] * weight[index[1]] * weight[index[2]] * det * energy_density(h, exact.lambda, exact.mu);
    }
  return errors;
}

// Trilinear elements of size h: the strain energy of the error falls as h^2 (its norm as h), displacements as h^2. The
// order between 9 and 17 nodes must be within 0.2 of 2. On the distorted mesh too.
TEST(Elasticity, TheEnergyOfTheErrorConvergesAtSecondOrder) {
  for (const double distortion : {0.0, 0.15}) {
    Errors errors[2];
    for (int level = 0; level < 2; ++level) {
      const std::int64_t n = level == 0 ? 9 : 17;
      Case given = assembled_cube(n, distortion, 0);
      const Manufactured exact{given.materials.lambda[0], given.materials.mu[0]};
      std::vector<double> load(static_cast<std::size_t>(3 * given.mesh.owned));
      add_body_force(
          given.mesh, [&](const double* x) { return exact.force(x); }, load);
      Constraints constraints = no_constraints(given.mesh);
      fix(
          constraints, given.mesh, [=](const Triple& at) { return on_boundary(at, n); },
          [](const double*) { return Vector3{}; });
      ASSERT_TRUE(eliminate(constraints, given.matrix, load).ok());
      errors[level] = errors_of(given, solve(given, load).x, exact);
    }
    EXPECT_NEAR(std::log2(errors[0].energy / errors[1].energy), 2, 0.2) << distortion;
    EXPECT_GT(std::log2(errors[0].nodal / errors[1].nodal), 1.6) << distortion;
  }
}

} // namespace
} // namespace kumihimo::fem
