// Restricted Hartree-Fock: self-consistent field of a closed shell. A. Szabo, N. S. Ostlund, Modern Quantum Chemistry,
// 1989, chapter 3.
#pragma once

#include "base/state_list.hpp"
#include "hartree_fock/basis.hpp"
#include "hartree_fock/ranks.hpp"
#include "hartree_fock/two_electron.hpp"

#include <functional>

namespace kumihimo::hartree_fock {

// What the iterations need, whichever two-electron part they use.
struct ScfProblem {
  int occupied = 0;     // orbitals, of two electrons each
  double nuclear = 0;   // energy of repulsion, hartree
  Matrix overlap, core; // of the basis: S; kinetic energy and attraction by nuclei
  Matrix orthogonal;    // S^(-1/2)
  Matrix density;       // to begin with: atoms'
};
// `set` gives the atoms' densities. Errors: more electrons than the basis holds; functions that depend on each other.
Result<ScfProblem> make_scf_problem(const Molecule& molecule, const BasisSet& set, const Basis& basis);

struct ScfIteration {
  double energy = 0;     // hartree, with the nuclei's repulsion
  double commutator = 0; // largest entry of F D S - S D F between orthogonal functions, hartree
};

struct ScfOptions {
  double tolerance = 1e-8; // of the commutator; the error of the energy is of its square
  int most_iterations = 100;
  double threshold = 1e-12; // of the two-electron part (two_electron.hpp), 0: no screening
  bool incremental = true;  // G of the change of the density is added to the last G
  std::function<void(const ScfIteration&)> progress = {};
  Broadcast broadcast = {};      // of several ranks
  AtIteration at_iteration = {}; // saves the SCF, or goes back to a saved one
};

struct Scf {
  bool converged = false;
  bool has_lowest_orbitals = true; // false: the last density with a small commutator is of others, so no ground state
  std::vector<ScfIteration> history;
  double energy = 0, one_electron = 0, two_electron = 0; // hartree; `energy` is all, with the nuclei's repulsion
  std::vector<double> orbital_energies;                  // hartree, ascending
  Matrix orbitals;                                       // in columns
  Matrix density, g;                                     // of the last iteration, whose energy this is
};

// Stops at most_iterations with converged = false. Collective if `two_electron` is: densities, orbitals and `converged`
// are rank 0's on all ranks. Errors: those of `two_electron` and of `broadcast`.
Result<Scf> restricted_scf(const ScfProblem& problem, TwoElectron& two_electron, const ScfOptions& options);

// In electron charges times bohr; of a charged molecule it depends on the origin.
Point dipole(const Molecule& molecule, const Basis& basis, const Matrix& density);
inline constexpr double debye_of_atomic_unit = 2.541746473; // CODATA 2018

} // namespace kumihimo::hartree_fock
