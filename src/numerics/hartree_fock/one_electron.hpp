// One-electron integrals over the functions of a basis, hartree and bohr. Formulas of T. Helgaker, P. Jorgensen,
// J. Olsen, Molecular Electronic-Structure Theory, 2000, sections 9.3 and 9.9.
#pragma once

#include "hartree_fock/basis.hpp"
#include "hartree_fock/matrix.hpp"

#include <array>

namespace kumihimo::hartree_fock {

Matrix overlap(const Basis& basis);
Matrix kinetic(const Basis& basis);
// -sum over nuclei of Z_c <a| 1/|r - R_c| |b>
Matrix nuclear_attraction(const Basis& basis, const Molecule& molecule);
// <a| x |b>, y, z from the origin; electrons carry the charge -1, which is not in these
std::array<Matrix, 3> position(const Basis& basis);

} // namespace kumihimo::hartree_fock
