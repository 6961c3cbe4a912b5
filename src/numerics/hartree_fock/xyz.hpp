// XYZ files: the number of atoms, a line of comment, then one atom a line: symbol or atomic number, x, y, z in
// angstrom. Of the extended form the comment names the columns: Properties=species:S:1:pos:R:3.
#pragma once

#include "hartree_fock/molecule.hpp"

#include <string_view>

namespace kumihimo::hartree_fock {

// `name` of the file, for errors, which say the line: an unknown element; a line that is not a symbol and three
// numbers; another number of atoms than the first line says; a lattice that repeats; another charge than the file's.
// The charge itself is not checked here (molecule.hpp, check()).
Result<Molecule> parse_xyz(std::string_view name, std::string_view text, int charge);

} // namespace kumihimo::hartree_fock
