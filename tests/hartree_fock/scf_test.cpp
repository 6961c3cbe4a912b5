#include "hartree_fock/scf.hpp"

#include "hartree_fock/built_in.hpp"
#include "hartree_fock/golden.hpp"

#include <gtest/gtest.h>

namespace kumihimo::hartree_fock {
namespace {

class Golden final : public TwoElectron {
 public:
  explicit Golden(const Basis& basis) : basis_(basis) {}
  Result<Matrix> build(const Matrix& density, double) override { return g_matrix_golden(basis_, density); }

 private:
  const Basis& basis_;
};

TEST(Scf, Water) {
  const Molecule molecule = *built_in_molecule("w1");
  const BasisSet& set = *built_in_basis_set("STO-3G");
  const Basis basis = *make_basis(molecule, set);
  Golden golden(basis);
  const Result<Scf> scf = restricted_scf(*make_scf_problem(molecule, set, basis), golden, {});
  ASSERT_TRUE(scf) << scf.error().sentence();
  for (const ScfIteration& each : scf->history) printf("%.10f %.3e\n", each.energy, each.commutator);
  for (const Atom& a : molecule.atoms) printf("%d %.12f %.12f %.12f\n", a.number, a.position[0], a.position[1], a.position[2]);
  for (const double e : scf->orbital_energies) printf("%.8f ", e);
}

} // namespace
} // namespace kumihimo::hartree_fock
