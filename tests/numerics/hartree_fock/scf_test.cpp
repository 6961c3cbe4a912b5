// Energies, orbital energies and dipoles against PySCF 2.14, whose basis sets have the same digits.
#include "golden_two_electron.hpp"
#include "hartree_fock/built_in.hpp"
#include "hartree_fock/diis.hpp"
#include "hartree_fock/scf.hpp"
#include "hartree_fock/xyz.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kumihimo::hartree_fock {
namespace {

struct Solved {
  Scf scf;
  Point dipole;
};
Solved solve(const Molecule& molecule, std::string_view set, const ScfOptions& options = {}) {
  const Basis basis = *make_basis(molecule, *built_in_basis_set(set));
  GoldenTwoElectron golden(basis);
  Result<Scf> scf = restricted_scf(*make_scf_problem(molecule, *built_in_basis_set(set), basis), golden, options);
  EXPECT_TRUE(scf) << scf.error().sentence();
  EXPECT_EQ(golden.builds, static_cast<int>(scf->history.size()));
  const Point mu = dipole(molecule, basis, scf->density);
  return {std::move(*scf), mu};
}

TEST(Scf, Hydrogen) {
  const Solved found = solve({{{1, {0, 0, 0}}, {1, {0, 0, 1.4}}}, 0}, "sto-3g");
  EXPECT_TRUE(found.scf.converged);
  EXPECT_NEAR(found.scf.energy, -1.1167143251, 2e-10);
  EXPECT_NEAR(found.scf.orbital_energies[0], -0.57820298, 1e-8);
  EXPECT_NEAR(found.scf.orbital_energies[1], 0.67026777, 1e-8);
}

TEST(Scf, WaterWithOrbitalsAndDipole) {
  const Solved found = solve(*built_in_molecule("w1"), "sto-3g");
  EXPECT_NEAR(found.scf.energy, -74.9629282464, 2e-10);
  const double levels[] = {-20.24173908, -1.26840904, -0.6179343, -0.45299447, -0.39124466, 0.60567385, 0.74239909};
  for (int i = 0; i < 7; ++i) EXPECT_NEAR(found.scf.orbital_energies[i], levels[i], 2e-8);
  EXPECT_NEAR(found.dipole[0], 0.415590067, 2e-8);
  EXPECT_NEAR(found.dipole[1], 0.536935575, 2e-8);
  EXPECT_NEAR(found.dipole[2], 0, 1e-10);
}

TEST(Scf, AnIonInASplitBasis) {
  const Solved found = solve(*parse_xyz("", "2\n\nO 0 0 0\nH 0 0 0.97\n", -1), "6-31g");
  EXPECT_NEAR(found.scf.energy, -75.3116625305, 2e-10);
  EXPECT_NEAR(found.scf.orbital_energies[4], -0.0395068, 1e-7);
}

TEST(Scf, CarbonMonoxide) {
  const Solved found = solve(*parse_xyz("", "2\n\nC 0 0 0\nO 0 0 1.13\n", 0), "sto-3g");
  EXPECT_NEAR(found.scf.energy, -111.2247538191, 2e-10);
  EXPECT_NEAR(found.dipole[2], 0.0644183057, 2e-8);
}

// A run that is replaced by another one's state at the top of some iteration ends as that one does, to the last bit.
TEST(Scf, AStateOfAnyIterationLeadsToTheSameBits) {
  const Molecule water = *built_in_molecule("w1");
  const BasisSet& set = *built_in_basis_set("sto-3g");
  const Basis basis = *make_basis(water, set);
  const ScfProblem problem = *make_scf_problem(water, set, basis);
  GoldenTwoElectron golden(basis);
  std::vector<std::vector<std::byte>> states;
  ScfOptions options;
  options.at_iteration = [&](std::int64_t, const FillState& fill) -> Result<bool> {
    StateList list;
    fill(list);
    states.push_back(list.packed());
    return false;
  };
  const Scf whole = *restricted_scf(problem, golden, options);
  ASSERT_GT(states.size(), 5U);
  for (const std::vector<std::byte>& bytes : states) {
    bool is_loaded = false;
    options.at_iteration = [&](std::int64_t, const FillState& fill) -> Result<bool> {
      if (is_loaded) return false;
      StateList list;
      fill(list);
      TRY(list.unpack(bytes));
      return is_loaded = true;
    };
    const Scf restarted = *restricted_scf(problem, golden, options);
    ASSERT_EQ(restarted.history.size(), whole.history.size());
    EXPECT_EQ(restarted.energy, whole.energy);
    EXPECT_EQ(restarted.history.back().commutator, whole.history.back().commutator);
    EXPECT_EQ(restarted.orbitals.values, whole.orbitals.values);
    EXPECT_EQ(restarted.density.values, whole.density.values);
  }
}

TEST(Scf, WholeBuildsAndIncrementsHaveOneAnswer) {
  ScfOptions whole;
  whole.incremental = false;
  const Molecule molecule = *parse_xyz("", "2\n\nC 0 0 0\nO 0 0 1.13\n", 0);
  const Solved a = solve(molecule, "sto-3g", whole), b = solve(molecule, "sto-3g");
  EXPECT_NEAR(a.scf.energy, b.scf.energy, 1e-11);
  for (std::size_t i = 0; i < a.scf.g.values.size(); ++i) EXPECT_NEAR(a.scf.g.values[i], b.scf.g.values[i], 1e-7);
}

TEST(Scf, StopsAtItsLimitWithTheEnergyOfItsDensity) {
  ScfOptions few;
  few.most_iterations = 3;
  const Molecule molecule = *built_in_molecule("w1");
  const Solved found = solve(molecule, "sto-3g", few);
  EXPECT_FALSE(found.scf.converged);
  ASSERT_EQ(found.scf.history.size(), 3U);
  EXPECT_EQ(found.scf.energy, found.scf.history.back().energy);
  const Matrix g = g_matrix_golden(*make_basis(molecule, *built_in_basis_set("sto-3g")), found.scf.density);
  for (std::size_t i = 0; i < g.values.size(); ++i) EXPECT_NEAR(found.scf.g.values[i], g.values[i], 1e-12);
}

// Both electrons on one of two atoms far apart: no commutator, but the other atom's orbital is lower.
TEST(Scf, IsNotSatisfiedWithOrbitalsThatAreNotTheLowest) {
  const Solved found = solve({{{1, {0, 0, 0}}, {1, {0, 0, 15 * 1.8897261}}}, 0}, "sto-3g");
  if (found.scf.converged) {
    EXPECT_NEAR(found.scf.energy, -0.5634999675, 1e-8); // one electron on each
  } else {
    EXPECT_FALSE(found.scf.has_lowest_orbitals);
  }
}

TEST(Scf, TellsErrors) {
  const BasisSet& set = *built_in_basis_set("sto-3g");
  const Molecule many{{{8, {0, 0, 0}}}, -6}; // 14 electrons, 5 functions
  const Result<ScfProblem> full = make_scf_problem(many, set, *make_basis(many, set));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().sentence(), "the basis must have an orbital for each of 7 pairs of electrons (got 5); use a "
                                     "larger basis set or charge");
  const Molecule near{{{1, {0, 0, 0}}, {1, {0, 0, 1e-5}}}, 0};
  const Result<ScfProblem> dependent = make_scf_problem(near, set, *make_basis(near, set));
  ASSERT_FALSE(dependent);
  EXPECT_EQ(dependent.error().problem, "the basis functions must be independent: the least eigenvalue of their overlap "
                                       "must be above 1e-8");
  const Molecule molecule = *built_in_molecule("w1");
  const Basis basis = *make_basis(molecule, set);
  GoldenTwoElectron golden(basis);
  golden.failing_build = 2;
  const Result<Scf> scf = restricted_scf(*make_scf_problem(molecule, set, basis), golden, {});
  ASSERT_FALSE(scf);
  EXPECT_EQ(scf.error().problem, "the build failed");
}

// Of two Fock matrices with opposite errors the one between them has none.
TEST(Diis, CombinesMatricesSoThatErrorsCancel) {
  Matrix f(1), e(1);
  Diis diis;
  f(0, 0) = 1, e(0, 0) = 0.5;
  EXPECT_DOUBLE_EQ(diis.extrapolate(f, e)(0, 0), 1);
  f(0, 0) = 4, e(0, 0) = -1;
  EXPECT_NEAR(diis.extrapolate(f, e)(0, 0), 2, 1e-12);
}

} // namespace
} // namespace kumihimo::hartree_fock
