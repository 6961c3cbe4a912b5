// Restricted Hartree-Fock: self-consistent field of a closed shell. A. Szabo, N. S. Ostlund, Modern Quantum Chemistry,
// 1989, chapter 3.
#pragma once

#include "hartree_fock/basis.hpp"
#include "hartree_fock/two_electron.hpp"

#include <functional>

namespace kumihimo::hartree_fock {

struct ScfIteration {
  double energy = 0;     // hartree, with the nuclei's repulsion
  double commutator = 0; // largest entry of F D S - S D F between orthogonal functions, hartree
};

struct ScfOptions {
  double tolerance = 1e-8; // of the commutator; the error of the energy is of its square
  int most_iterations = 100;
  double threshold = 1e-11; // of the two-electron part (two_electron.hpp), 0: no screening
  bool incremental = true;  // G of the change of the density is added to the last G
  std::function<void(const ScfIteration&)> progress = {};
};

struct Scf {
  bool converged = false;
  std::vector<ScfIteration> history;
  double energy = 0, nuclear = 0, one_electron = 0, two_electron = 0; // hartree
  int occupied = 0;                                                   // orbitals, of two electrons each
  std::vector<double> orbital_energies;                               // hartree, ascending
  Matrix orbitals;                                                    // in columns
  Matrix density, g;                                                  // of the last iteration
  Point dipole{}; // electron charges times bohr; of a charged molecule from the origin
};

inline constexpr double debye_of_atomic_unit = 2.541746473; // CODATA 2018

// `set` gives the atoms' densities to begin with. The last iteration's energy is that of its density; stops at
// most_iterations with converged = false. Collective if `two_electron` is. Errors: those of `two_electron`; more
// electrons than the basis holds; functions that depend on each other.
Result<Scf> restricted_scf(const Molecule& molecule, const BasisSet& set, const Basis& basis, TwoElectron& two_electron,
                           const ScfOptions& options);

} // namespace kumihimo::hartree_fock
