// Peptides of one amino acid, from internal coordinates.
#pragma once

#include "hartree_fock/molecule.hpp"

namespace kumihimo::hartree_fock {

enum class SideChain { hydrogen, methyl }; // of glycine, of L-alanine

// H-(NH-CHR-CO)n-OH as a beta strand (phi -139, psi 135, omega 180 degrees), with the bond lengths and angles of R. A.
// Engh, R. Huber, Acta Cryst. A47 (1991) 392, rounded.
Molecule peptide(int residues, SideChain side_chain);

} // namespace kumihimo::hartree_fock
