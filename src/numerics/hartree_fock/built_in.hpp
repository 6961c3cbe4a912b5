// Molecules by name, for measurements of growing size: water on a lattice, peptides, benzene.
#pragma once

#include "hartree_fock/molecule.hpp"

#include <string>
#include <string_view>

namespace kumihimo::hartree_fock {

// w1 .. w1000: so many water molecules, which fill a cube of a lattice with a hydrogen bond to the next along two axes.
// gly1 .. gly100, ala1 .. ala100: peptides H-(NH-CHR-CO)n-OH, a beta strand by standard bond lengths and angles.
// benzene. Error: another name; it lists these.
Result<Molecule> built_in_molecule(std::string_view name);
// The name of about a quarter of the molecule; empty: it is the smallest of its kind, or unknown.
std::string smaller_molecule(std::string_view name);

} // namespace kumihimo::hartree_fock
