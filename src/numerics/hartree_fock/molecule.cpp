#include "hartree_fock/molecule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace kumihimo::hartree_fock {
namespace {

constexpr std::string_view symbols[] = {"",   "H",  "He", "Li", "Be", "B", "C", "N",  "O", "F",
                                        "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl", "Ar"};
constexpr double nearest_angstrom = 0.1; // the shortest bond, of H2, has 0.74

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

Status check_distances(const Molecule& molecule) {
  const std::vector<Atom>& atoms = molecule.atoms;
  for (std::size_t a = 0; a < atoms.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const double apart = distance(atoms[a].position, atoms[b].position) * angstrom_of_bohr;
      if (apart < nearest_angstrom)
        return wrong_value(
            fmt::format("atoms {} and {} must be at least {} angstrom apart", b + 1, a + 1, nearest_angstrom),
            fmt::format("{:.3g}", apart), "check the positions, which are in angstrom");
    }
  return Nothing{};
}

} // namespace

int Molecule::electrons() const {
  int found = -charge;
  for (const Atom& atom : atoms) found += atom.number;
  return found;
}

double distance(const Point& a, const Point& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

std::string_view symbol_of(int number) {
  return number >= 1 && number < static_cast<int>(std::size(symbols)) ? symbols[number] : "";
}

int number_of(std::string_view symbol) {
  for (std::size_t n = 1; n < std::size(symbols); ++n)
    if (same_letters(symbols[n], symbol)) return static_cast<int>(n);
  return 0;
}

double nuclear_repulsion(const Molecule& molecule) {
  double energy = 0;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      energy += molecule.atoms[a].number * molecule.atoms[b].number /
                distance(molecule.atoms[a].position, molecule.atoms[b].position);
  return energy;
}

Point nuclear_dipole(const Molecule& molecule) {
  Point dipole{};
  for (const Atom& atom : molecule.atoms)
    for (int k = 0; k < 3; ++k) dipole[k] += atom.number * atom.position[k];
  return dipole;
}

Status check(const Molecule& molecule) {
  if (molecule.atoms.empty()) return wrong_value("the molecule must have an atom");
  if (Status s = check_distances(molecule); !s) return s;
  const int electrons = molecule.electrons();
  if (electrons <= 0)
    return wrong_value(fmt::format("the charge {} must leave an electron", molecule.charge), electrons);
  if (electrons % 2 != 0)
    return wrong_value("restricted Hartree-Fock needs closed shells, so an even number of electrons", electrons,
                       fmt::format("change the charge {} by 1", molecule.charge));
  return Nothing{};
}

} // namespace kumihimo::hartree_fock
