// The golden copy against closed formulas, symmetries and values of the literature.
#include "hartree_fock/golden.hpp"
#include "hartree_fock/one_electron.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace kumihimo::hartree_fock {
namespace {

using std::numbers::pi;

Shell one_primitive(ShellType type, double exponent, Point at, double s, double p) {
  Shell shell{0, type, at, {exponent}, {}, {}, 0};
  if (type != ShellType::p) shell.s = {s};
  if (type != ShellType::s) shell.p = {p};
  return shell;
}

// A. Szabo, N. S. Ostlund, Modern Quantum Chemistry, 1989, equation A.41
TEST(Golden, SFunctionsHaveTheClosedFormula) {
  const double a = 0.3, b = 1.1, c = 2.0, d = 0.7;
  const Point at[] = {{0, 0, 0}, {0.5, -0.2, 0.1}, {1, 1, 0}, {-0.4, 0.3, 0.8}};
  const Shell shells[] = {one_primitive(ShellType::s, a, at[0], 1, 0), one_primitive(ShellType::s, b, at[1], 1, 0),
                          one_primitive(ShellType::s, c, at[2], 1, 0), one_primitive(ShellType::s, d, at[3], 1, 0)};
  Point p, q;
  for (int k = 0; k < 3; ++k) {
    p[k] = (a * at[0][k] + b * at[1][k]) / (a + b);
    q[k] = (c * at[2][k] + d * at[3][k]) / (c + d);
  }
  const auto square = [](double x) { return x * x; };
  const double x = std::sqrt((a + b) * (c + d) / (a + b + c + d)) * distance(p, q);
  const double f0 = 0.5 * std::sqrt(pi) / x * std::erf(x);
  const double expected =
      2 * std::pow(pi, 2.5) / ((a + b) * (c + d) * std::sqrt(a + b + c + d)) *
      std::exp(-a * b / (a + b) * square(distance(at[0], at[1])) - c * d / (c + d) * square(distance(at[2], at[3]))) *
      f0;
  EXPECT_NEAR(repulsion_golden(shells[0], shells[1], shells[2], shells[3])[0], expected, 1e-14);
}

// 2 a times a p function is minus the derivative of an s function by the centre's coordinate.
TEST(Golden, PFunctionsAreDerivativesOfSFunctions) {
  const double exponents[] = {0.8, 1.3, 0.5, 0.9}, step = 1e-3;
  Point at[] = {{0, 0, 0}, {0.5, -0.2, 0.1}, {1, 1, 0}, {-0.4, 0.3, 0.8}};
  for (int moved = 0; moved < 4; ++moved)
    for (int k = 0; k < 3; ++k) {
      const auto integral = [&](ShellType type, double shift) {
        std::vector<Shell> shells;
        for (int i = 0; i < 4; ++i) {
          Point place = at[i];
          if (i == moved) place[k] += shift;
          shells.push_back(one_primitive(i == moved ? type : ShellType::sp, exponents[i], place, 1, 1));
        }
        return repulsion_golden(shells[0], shells[1], shells[2], shells[3]);
      };
      const std::vector<double> p = integral(ShellType::p, 0), up = integral(ShellType::s, step),
                                down = integral(ShellType::s, -step), far_up = integral(ShellType::s, 2 * step),
                                far_down = integral(ShellType::s, -2 * step);
      const std::size_t inner = moved == 3 ? 1 : moved == 2 ? 4 : moved == 1 ? 16 : 64; // integrals of one function
      for (std::size_t i = 0; i < up.size(); ++i) {
        const double derivative = (8 * (up[i] - down[i]) - (far_up[i] - far_down[i])) / (12 * step);
        const double of_p = p[i / inner * 3 * inner + static_cast<std::size_t>(k) * inner + i % inner];
        EXPECT_NEAR(2 * exponents[moved] * of_p, derivative, 1e-9) << moved << ' ' << k << ' ' << i;
      }
    }
}

TEST(Golden, IntegralsHaveTheEightSymmetries) {
  const Shell a = one_primitive(ShellType::sp, 0.8, {0, 0, 0}, 0.7, 1.1);
  const Shell b = one_primitive(ShellType::p, 1.3, {0.5, -0.2, 0.1}, 0, 0.9);
  const Shell c = one_primitive(ShellType::s, 0.5, {1, 1, 0}, 1, 0), d = one_primitive(ShellType::sp, 0.9, {}, 1, 1);
  const std::vector<double> abcd = repulsion_golden(a, b, c, d), badc = repulsion_golden(b, a, d, c),
                            cdab = repulsion_golden(c, d, a, b);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j)
      for (int l = 0; l < 4; ++l) {
        const double value = abcd[(i * 3 + j) * 4 + l];
        EXPECT_NEAR(badc[(j * 4 + i) * 4 + l], value, 1e-15);
        EXPECT_NEAR(cdab[(l * 4 + i) * 3 + j], value, 1e-15);
      }
}

// G of a density, from integrals that are given in Szabo and Ostlund's example of hydrogen (STO-3G, 1.4 bohr, page 162)
// to four digits, and by PySCF 2.14 to eight.
TEST(Golden, HydrogenHasTheIntegralsOfTheLiterature) {
  const Molecule molecule{{{1, {0, 0, 0}}, {1, {0, 0, 1.4}}}, 0};
  const Basis basis = *make_basis(molecule, *built_in_basis_set("sto-3g"));
  EXPECT_NEAR(overlap(basis)(0, 1), 0.65931821, 1e-8);
  EXPECT_NEAR(kinetic(basis)(0, 0), 0.76003188, 1e-8);
  EXPECT_NEAR(kinetic(basis)(0, 1), 0.23645466, 1e-8);
  EXPECT_NEAR(nuclear_attraction(basis, molecule)(0, 0), -1.88044089, 1e-8);
  EXPECT_NEAR(nuclear_attraction(basis, molecule)(0, 1), -1.19483462, 1e-8);
  EXPECT_NEAR(position(basis)[2](0, 1), 0.7 * 0.65931821, 1e-8);
  Matrix density(2);
  density(0, 0) = 1; // G_00 = (00|00)/2, G_01 = (01|00) - (00|10)/2, G_11 = (11|00) - (10|10)/2
  const Matrix g = g_matrix_golden(basis, density);
  EXPECT_NEAR(g(0, 0), 0.77460594 / 2, 1e-8);
  EXPECT_NEAR(g(0, 1), 0.44410766 / 2, 1e-8);
  EXPECT_NEAR(g(1, 0), 0.44410766 / 2, 1e-8);
  EXPECT_NEAR(g(1, 1), 0.56967593 - 0.29702854 / 2, 1e-8);
}

TEST(Golden, BlocksAreThoseOfTheWholeMatrix) {
  const Molecule molecule{{{8, {0, 0, 0}}, {1, {0, 1, 1.4}}}, -1};
  const Basis basis = *make_basis(molecule, *built_in_basis_set("sto-3g"));
  std::mt19937 random(3);
  Matrix density(basis.functions);
  for (int i = 0; i < density.size; ++i)
    for (int j = 0; j <= i; ++j) density(i, j) = density(j, i) = std::uniform_real_distribution<double>(-1, 1)(random);
  const Matrix g = g_matrix_golden(basis, density);
  for (const Shell& a : basis.shells)
    for (const Shell& b : basis.shells) {
      const std::vector<double> block = g_block_golden(basis, density, a, b);
      for (int i = 0; i < a.functions(); ++i)
        for (int j = 0; j < b.functions(); ++j)
          EXPECT_NEAR(block[i * b.functions() + j], g(a.first + i, b.first + j), 1e-13);
    }
}

} // namespace
} // namespace kumihimo::hartree_fock
