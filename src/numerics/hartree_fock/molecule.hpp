// A molecule: nuclei at fixed positions and its electrons' number.
#pragma once

#include "base/result.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace kumihimo::hartree_fock {

using Point = std::array<double, 3>;

// Bohr radius in angstrom, CODATA 2010, which PySCF uses, too.
inline constexpr double angstrom_of_bohr = 0.52917721092;

struct Atom {
  int number = 0;   // of the element: 1 is hydrogen
  Point position{}; // bohr
};

struct Molecule {
  std::vector<Atom> atoms;
  int charge = 0;

  int electrons() const; // of the neutral atoms, less the charge
};

double distance(const Point& a, const Point& b);

// "C" of 6; empty: no element of this number is known here.
std::string_view symbol_of(int number);
// 6 of "C" or "c"; 0: unknown.
int number_of(std::string_view symbol);

// Energy of the nuclei's repulsion: sum of Z_a Z_b / r_ab, hartree.
double nuclear_repulsion(const Molecule& molecule);
// Sum of Z_a r_a, in electron charges times bohr.
Point nuclear_dipole(const Molecule& molecule);

// Errors: no atom; two nuclei closer than 0.1 angstrom; an odd number of electrons (open shell), none, or less.
Status check(const Molecule& molecule);

} // namespace kumihimo::hartree_fock
