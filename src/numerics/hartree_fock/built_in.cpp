#include "hartree_fock/built_in.hpp"

#include "base/text_parsing.hpp"
#include "hartree_fock/peptide.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>

namespace kumihimo::hartree_fock {
namespace {

constexpr int most_waters = 1000, most_residues = 100;

void add(Molecule& molecule, int number, double x, double y, double z) { // angstrom
  molecule.atoms.push_back({number, {x / angstrom_of_bohr, y / angstrom_of_bohr, z / angstrom_of_bohr}});
}

// The O-H bonds point along x and nearly along y, to the oxygen of the next molecule; in every second layer the other
// way, so that dipoles of layers cancel.
Molecule waters(int count) {
  constexpr double spacing = 2.9, bond = 0.9572, angle = 104.52 * std::numbers::pi / 180; // angstrom
  int edge = 1;
  while (edge * edge * edge < count) ++edge;
  Molecule molecule;
  for (int i = 0; i < count; ++i) {
    const int layer = i / (edge * edge), direction = layer % 2 == 0 ? 1 : -1;
    const double x = spacing * (i % edge), y = spacing * (i / edge % edge), z = spacing * layer;
    add(molecule, 8, x, y, z);
    add(molecule, 1, x + direction * bond, y, z);
    add(molecule, 1, x + direction * bond * std::cos(angle), y + direction * bond * std::sin(angle), z);
  }
  return molecule;
}

Molecule benzene() {
  Molecule molecule;
  for (const auto& [number, radius] : {std::pair{6, 1.39}, {1, 1.39 + 1.09}})
    for (int i = 0; i < 6; ++i)
      add(molecule, number, radius * std::cos(i * std::numbers::pi / 3), radius * std::sin(i * std::numbers::pi / 3),
          0);
  return molecule;
}

// "w", "gly" or "ala" with their number.
struct MoleculeFamily {
  std::string_view prefix;
  int most;
};
constexpr MoleculeFamily families[] = {{"w", most_waters}, {"gly", most_residues}, {"ala", most_residues}};

struct Member {
  const MoleculeFamily* family;
  int count;
};

std::optional<Member> member(std::string_view name) {
  for (const MoleculeFamily& family : families) {
    std::string_view rest = name;
    std::int32_t count = 0;
    if (take(rest, family.prefix) && read_number(rest, count) && count >= 1 && count <= family.most)
      return Member{&family, count};
  }
  return std::nullopt;
}

} // namespace

Result<Molecule> built_in_molecule(std::string_view name) {
  if (name == "benzene") return benzene();
  const std::optional<Member> found = member(name);
  if (!found)
    return wrong_value(fmt::format("a built-in molecule must be w1 to w{}, gly1 to gly{}, ala1 to ala{} or benzene",
                                   most_waters, most_residues, most_residues),
                       fmt::format("'{}'", name), "or name an XYZ file with molecule=FILE");
  if (found->family->prefix == "w") return waters(found->count);
  return peptide(found->count, found->family->prefix == "ala" ? SideChain::methyl : SideChain::hydrogen);
}

std::string smaller_molecule(std::string_view name) {
  const std::optional<Member> found = member(name);
  if (!found || found->count == 1) return "";
  return fmt::format("{}{}", found->family->prefix, std::max(1, found->count / 4));
}

} // namespace kumihimo::hartree_fock
