// Triplets of frozen orbitals: hydrogen by Szabo and Ostlund's integrals, and every excitation against the energy of
// its determinant.
#include "golden_two_electron.hpp"
#include "hartree_fock/built_in.hpp"
#include "hartree_fock/linear_algebra.hpp"
#include "hartree_fock/triplet.hpp"
#include "hartree_fock/xyz.hpp"

#include <gtest/gtest.h>

namespace kumihimo::hartree_fock {
namespace {

struct ClosedShell {
  Basis basis;
  ScfProblem problem;
  Scf scf;

  explicit ClosedShell(const Molecule& molecule)
      : basis(*make_basis(molecule, *built_in_basis_set("sto-3g"))),
        problem(*make_scf_problem(molecule, *built_in_basis_set("sto-3g"), basis)) {
    GoldenTwoElectron golden(basis);
    scf = *restricted_scf(problem, golden, {});
    EXPECT_TRUE(scf.converged);
  }
  std::optional<Triplet> lowest(int* builds = nullptr) const {
    GoldenTwoElectron golden(basis);
    const Result<std::optional<Triplet>> found = lowest_triplet(scf, problem.occupied, golden, 0);
    EXPECT_TRUE(found);
    if (builds) *builds = golden.builds;
    return *found;
  }
};

Matrix density_of_filled(const Matrix& orbitals, const std::vector<int>& filled) {
  Matrix density(orbitals.size);
  for (int a = 0; a < orbitals.size; ++a)
    for (int b = 0; b < orbitals.size; ++b)
      for (const int o : filled) density(a, b) += orbitals(a, o) * orbitals(b, o);
  return density;
}

// Of the electrons of one determinant, whose spin-up and spin-down orbitals are these: tr P h + (tr P J(P) - tr Pu
// K(Pu)
// - tr Pd K(Pd)) / 2.
double energy_of_determinant(const ClosedShell& of, const std::vector<int>& up, const std::vector<int>& down) {
  const Matrix p_up = density_of_filled(of.scf.orbitals, up), p_down = density_of_filled(of.scf.orbitals, down);
  const Matrix p = sum(p_up, p_down);
  return inner(p, of.problem.core) + 0.5 * (inner(p, coulomb_exchange_golden(of.basis, p).j) -
                                            inner(p_up, coulomb_exchange_golden(of.basis, p_up).k) -
                                            inner(p_down, coulomb_exchange_golden(of.basis, p_down).k));
}

// J_12 is 0.6636 hartree, the levels are -0.5782 and 0.6703 (Szabo and Ostlund, section 3.5.2).
TEST(Triplet, OfHydrogen) {
  const ClosedShell found({{{1, {0, 0, 0}}, {1, {0, 0, 1.4}}}, 0});
  const std::optional<Triplet> triplet = found.lowest();
  ASSERT_TRUE(triplet);
  EXPECT_NEAR(triplet->energy, 0.6703 + 0.5782 - 0.6636, 2e-4);
  EXPECT_EQ(triplet->from, 0);
  EXPECT_EQ(triplet->to, 1);
}

TEST(Triplet, IsTheLowestDeterminantOfOxygen) {
  const ClosedShell found(*parse_xyz("", "2\n\nO 0 0 0\nO 0 0 1.21\n", 0));
  int builds = 0;
  const std::optional<Triplet> triplet = found.lowest(&builds);
  ASSERT_TRUE(triplet);
  EXPECT_LT(triplet->energy, -0.05);
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
  const double closed = energy_of_determinant(found, all, all);
  EXPECT_NEAR(closed + found.problem.nuclear, found.scf.energy, 1e-9);
  double lowest = 0;
  for (int to = 8; to < 10; ++to) {
    std::vector<int> down = all, up = all;
    down.erase(down.begin() + triplet->from);
    up.push_back(to);
    lowest = std::min(lowest, energy_of_determinant(found, up, down) - closed);
  }
  EXPECT_NEAR(triplet->energy, lowest, 1e-8);
  EXPECT_EQ(builds, 1); // one orbital is as high
}

TEST(Triplet, LooksAtAllOfTheHighestOrbitals) {
  const ClosedShell hydroxide(*parse_xyz("", "2\n\nO 0 0 0\nH 0 0 0.97\n", -1)); // two orbitals of equal energy
  int builds = 0;
  const std::optional<Triplet> triplet = hydroxide.lowest(&builds);
  ASSERT_TRUE(triplet);
  EXPECT_EQ(builds, 2);
  EXPECT_GT(triplet->energy, 0.1);
}

TEST(Triplet, NeedsAnEmptyOrbital) {
  const ClosedShell hydride({{{1, {0, 0, 0}}}, -1}); // a hydride ion with one function
  EXPECT_FALSE(hydride.lowest());
}

TEST(Triplet, TellsTheErrorOfABuild) {
  const ClosedShell found({{{1, {0, 0, 0}}, {1, {0, 0, 1.4}}}, 0});
  GoldenTwoElectron golden(found.basis);
  golden.failing_build = 1;
  const Result<std::optional<Triplet>> triplet = lowest_triplet(found.scf, 1, golden, 0);
  ASSERT_FALSE(triplet);
  EXPECT_EQ(triplet.error().problem, "the build failed");
}

} // namespace
} // namespace kumihimo::hartree_fock
