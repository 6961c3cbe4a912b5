#include "hartree_fock/guess.hpp"

#include "hartree_fock/golden.hpp"
#include "hartree_fock/linear_algebra.hpp"
#include "hartree_fock/one_electron.hpp"

#include <algorithm>
#include <map>

namespace kumihimo::hartree_fock {
namespace {

constexpr int iterations = 30;
constexpr double enough = 1e-4; // change of the density: this is only where the molecule begins
constexpr double mixed = 0.7;   // of the new density

// Electrons of a neutral atom in its subshells 1s 2s 3s and 2p 3p, filled in the order 1s 2s 2p 3s 3p.
struct Occupation {
  std::vector<double> s, p;
};
Occupation occupation_of(int number) {
  Occupation found;
  const auto fill = [&number](std::vector<double>& into, int most) {
    const int electrons = std::min(number, most);
    if (electrons > 0) into.push_back(electrons);
    number -= electrons;
  };
  fill(found.s, 2), fill(found.s, 2), fill(found.p, 6), fill(found.s, 2), fill(found.p, 6);
  return found;
}

// All integrals of one atom, (ij|kl) at ((i n + j) n + k) n + l.
std::vector<double> all_repulsions(const Basis& basis) {
  const auto n = static_cast<std::size_t>(basis.functions);
  std::vector<double> found(n * n * n * n);
  for (const Shell& a : basis.shells)
    for (const Shell& b : basis.shells)
      for (const Shell& c : basis.shells)
        for (const Shell& d : basis.shells) {
          const std::vector<double> block = repulsion_golden(a, b, c, d);
          std::size_t from = 0;
          for (int i = 0; i < a.functions(); ++i)
            for (int j = 0; j < b.functions(); ++j)
              for (int k = 0; k < c.functions(); ++k)
                for (int l = 0; l < d.functions(); ++l)
                  found[(((a.first + i) * n + b.first + j) * n + c.first + k) * n + d.first + l] = block[from++];
        }
  return found;
}

Matrix g_matrix(const std::vector<double>& repulsions, const Matrix& density) {
  const int n = density.size;
  const auto at = [&](int i, int j, int k, int l) {
    return repulsions[((static_cast<std::size_t>(i) * n + j) * n + k) * n + l];
  };
  Matrix g(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) g(i, j) += density(k, l) * (at(i, j, k, l) - 0.5 * at(i, k, j, l));
  return g;
}

// The functions of an atom by symmetry: s, and x, y and z of its p shells. Fock matrix and overlap of a spherical atom
// couple none of one list with another.
std::array<std::vector<int>, 4> by_symmetry(const Basis& basis) {
  std::array<std::vector<int>, 4> found;
  for (const Shell& shell : basis.shells) {
    int at = shell.first;
    if (!shell.s.empty()) found[0].push_back(at++);
    if (!shell.p.empty())
      for (int k = 0; k < 3; ++k) found[k + 1].push_back(at++);
  }
  return found;
}

Matrix part_of(const Matrix& whole, const std::vector<int>& functions) {
  Matrix found(static_cast<int>(functions.size()));
  for (int i = 0; i < found.size; ++i)
    for (int j = 0; j < found.size; ++j) found(i, j) = whole(functions[i], functions[j]);
  return found;
}

// Adds the density of the lowest orbitals of these functions, `electrons` in each.
void add_density(const Matrix& fock, const Matrix& orthogonal, const std::vector<int>& functions,
                 const std::vector<double>& electrons, double share, Matrix& density) {
  const Matrix orbitals = product(orthogonal, eigen_pairs(transform(part_of(fock, functions), orthogonal)).vectors);
  const auto held = std::min(electrons.size(), functions.size());
  for (std::size_t o = 0; o < held; ++o)
    for (int i = 0; i < orbitals.size; ++i)
      for (int j = 0; j < orbitals.size; ++j)
        density(functions[i], functions[j]) +=
            share * electrons[o] * orbitals(i, static_cast<int>(o)) * orbitals(j, static_cast<int>(o));
}

Result<Matrix> density_of_atom(int number, const BasisSet& set) {
  const Molecule atom{{{number, {}}}, 0};
  const Basis basis = TRY(make_basis(atom, set));
  const Matrix core = sum(kinetic(basis), nuclear_attraction(basis, atom)), overlaps = overlap(basis);
  const std::vector<double> repulsions = all_repulsions(basis);
  const std::array<std::vector<int>, 4> symmetry = by_symmetry(basis);
  const Occupation electrons = occupation_of(number);
  std::array<Matrix, 4> orthogonal;
  for (int k = 0; k < 4; ++k)
    if (!symmetry[k].empty()) orthogonal[k] = TRY(inverse_square_root(part_of(overlaps, symmetry[k])));
  Matrix density(basis.functions);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const Matrix fock = sum(core, g_matrix(repulsions, density));
    Matrix next(basis.functions);
    for (int k = 0; k < 4; ++k)
      if (!symmetry[k].empty())
        add_density(fock, orthogonal[k], symmetry[k], k == 0 ? electrons.s : electrons.p, k == 0 ? 1 : 1.0 / 3, next);
    const Matrix change = sum(next, density, -1);
    density = iteration == 0 ? next : sum(density, change, mixed);
    if (largest_entry(change) < enough) break;
  }
  return density;
}

} // namespace

Result<Matrix> superposition_of_atoms(const Molecule& molecule, const BasisSet& set, const Basis& basis) {
  std::map<int, Matrix> of_element;
  std::vector<int> first_of_atom(molecule.atoms.size(), -1);
  for (const Shell& shell : basis.shells)
    if (first_of_atom[shell.atom] < 0) first_of_atom[shell.atom] = shell.first;
  const double neutral = molecule.electrons() + molecule.charge;
  Matrix density(basis.functions);
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    const int number = molecule.atoms[a].number;
    if (!of_element.contains(number)) of_element.emplace(number, TRY(density_of_atom(number, set)));
    const Matrix& block = of_element.at(number);
    for (int i = 0; i < block.size; ++i)
      for (int j = 0; j < block.size; ++j)
        density(first_of_atom[a] + i, first_of_atom[a] + j) = molecule.electrons() / neutral * block(i, j);
  }
  return density;
}

} // namespace kumihimo::hartree_fock
