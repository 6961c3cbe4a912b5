// The density with which an SCF begins: a superposition of densities of spherical atoms. J. Almlof, K. Faegri,
// K. Korsell, J. Comput. Chem. 3 (1982) 385; J. H. van Lenthe et al., J. Comput. Chem. 27 (2006) 926.
#pragma once

#include "hartree_fock/basis.hpp"
#include "hartree_fock/matrix.hpp"

namespace kumihimo::hartree_fock {

// The block of each atom is the density of the neutral atom alone; all of it is scaled to the electrons of the
// molecule. Errors: of inverse_square_root().
Result<Matrix> superposition_of_atoms(const Molecule& molecule, const BasisSet& set, const Basis& basis);

} // namespace kumihimo::hartree_fock
