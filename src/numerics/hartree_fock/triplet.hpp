// Whether a triplet lies below a closed shell: one electron goes from an occupied orbital to an empty one and turns its
// spin, and all orbitals stay as they are. A. Szabo, N. S. Ostlund, Modern Quantum Chemistry, 1989, section 2.3.
#pragma once

#include "hartree_fock/scf.hpp"

#include <optional>

namespace kumihimo::hartree_fock {

struct Triplet {
  double energy = 0;    // hartree, above the closed shell
  int from = 0, to = 0; // orbitals, from 0 by energy
};

// e_a - e_i - J_ia, hartree: exact for these orbitals, whose best triplet is lower. So if it is negative, the closed
// shell is not the ground state.
double triplet_energy(double occupied_energy, double empty_energy, double coulomb);

// The lowest of those that leave one of the highest occupied orbitals: up to five (no symmetry makes more equal) within
// 0.02 hartree of the highest. None: no orbital is empty. `scf` has converged. Builds J of the density of each of
// these orbitals. Collective if `two_electron` is. Errors: those of `two_electron`.
Result<std::optional<Triplet>> lowest_triplet(const Scf& scf, int occupied, TwoElectron& two_electron,
                                              double threshold);

} // namespace kumihimo::hartree_fock
