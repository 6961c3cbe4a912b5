#include "hartree_fock/xyz.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace kumihimo::hartree_fock {
namespace {

constexpr std::int64_t most_atoms = 10000; // distances of all pairs are checked
constexpr double farthest = 1e6;           // angstrom

Result<Atom> read_atom(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  Atom atom;
  bool right = words.size() >= 4;
  for (std::size_t k = 0; right && k < 3; ++k) {
    double value = 0;
    right = read_number(words[k + 1], value) && std::abs(value) <= farthest;
    atom.position[k] = value / angstrom_of_bohr;
  }
  if (!right) return wrong_value("an atom must be its symbol and x, y, z in angstrom", on_one_line(line));
  atom.number = number_of(words[0]);
  if (atom.number == 0) return wrong_value("an atom must be of an element from H to Ar", on_one_line(words[0]));
  return atom;
}

} // namespace

Result<Molecule> parse_xyz(std::string_view name, std::string_view text, int charge) {
  const auto place = [&](std::int64_t line) { return fmt::format("{}:{}", name, line); };
  const std::string_view first = trimmed(take_until(text, '\n'));
  std::int64_t atoms = 0;
  if (!read_number(first, atoms) || atoms < 1 || atoms > most_atoms)
    return located(place(1), wrong_value(fmt::format("the first line must be the number of atoms, 1 to {}", most_atoms),
                                         on_one_line(first)));
  take_until(text, '\n');
  Molecule molecule{{}, charge};
  for (std::int64_t i = 0; i < atoms; ++i) {
    if (trimmed(text, " \t\r\n").empty())
      return located(place(i + 2), wrong_value(fmt::format("{} atoms must follow the comment", atoms), i));
    const Result<Atom> atom = read_atom(take_until(text, '\n'));
    if (!atom) return located(place(i + 3), atom.error());
    molecule.atoms.push_back(*atom);
  }
  if (!trimmed(text, " \t\r\n").empty())
    return located(place(atoms + 3), wrong_value(fmt::format("the file must end after {} atoms", atoms),
                                                 on_one_line(take_until(text, '\n'))));
  return molecule;
}

} // namespace kumihimo::hartree_fock
