#include "hartree_fock/scf.hpp"

#include "hartree_fock/diis.hpp"
#include "hartree_fock/guess.hpp"
#include "hartree_fock/linear_algebra.hpp"
#include "hartree_fock/one_electron.hpp"

#include <fmt/format.h>

#include <array>

namespace kumihimo::hartree_fock {
namespace {

constexpr int between_whole_builds = 8; // iterations: rounding and screening of increments add up

// D = 2 sum over occupied orbitals of C C^T
Matrix density_of(const Matrix& orbitals, int occupied) {
  Matrix density(orbitals.size);
  for (int i = 0; i < orbitals.size; ++i)
    for (int j = 0; j <= i; ++j) {
      double found = 0;
      for (int o = 0; o < occupied; ++o) found += orbitals(i, o) * orbitals(j, o);
      density(i, j) = density(j, i) = 2 * found;
    }
  return density;
}

// What the next iteration and the end depend on.
Status take_rank_0s(Scf& scf, const Broadcast& broadcast) {
  if (!broadcast) return Nothing{};
  std::array<double, 2> state{static_cast<double>(scf.converged), static_cast<double>(scf.has_lowest_orbitals)};
  TRY(broadcast(state));
  scf.converged = state[0] != 0;
  scf.has_lowest_orbitals = state[1] != 0;
  TRY(broadcast(scf.orbital_energies));
  return broadcast(scf.orbitals.values);
}

// G of one density after the other, by increments.
class GMatrix {
 public:
  GMatrix(TwoElectron& two_electron, const ScfOptions& options) : two_electron_(two_electron), options_(options) {}

  void list_state(StateList& list) {
    list.number("builds", builds_).number("last size", density_.size).vector("last density", density_.values);
    list.number("last G size", g_.size).vector("last G", g_.values);
  }

  Result<Matrix> of(const Matrix& density) {
    const bool whole = !options_.incremental || builds_++ % between_whole_builds == 0;
    Matrix g = g_matrix(TRY(two_electron_.build(whole ? density : sum(density, density_, -1), options_.threshold)));
    if (!whole) g = sum(g, g_);
    density_ = density;
    g_ = g;
    return g;
  }

 private:
  TwoElectron& two_electron_;
  const ScfOptions& options_;
  Matrix density_, g_;
  int builds_ = 0;
};

// Whether the density is that of the lowest orbitals of its own Fock matrix: if so, Tr(D S D' S) is four for each pair
// of electrons. A density of other orbitals has no commutator either: of two atoms far apart both electrons on one.
bool has_lowest_orbitals(const Scf& scf, const ScfProblem& problem) {
  const Matrix lowest = density_of(scf.orbitals, problem.occupied);
  const Matrix& s = problem.overlap;
  return inner(product(s, product(scf.density, s)), lowest) > 4 * problem.occupied - 0.04;
}

} // namespace

Result<ScfProblem> make_scf_problem(const Molecule& molecule, const BasisSet& set, const Basis& basis) {
  ScfProblem problem;
  problem.occupied = molecule.electrons() / 2;
  if (problem.occupied > basis.functions)
    return wrong_value(
        fmt::format("the basis must have an orbital for each of {} pairs of electrons", problem.occupied),
        basis.functions, "use a larger basis set or charge");
  problem.nuclear = nuclear_repulsion(molecule);
  problem.overlap = overlap(basis);
  problem.core = sum(kinetic(basis), nuclear_attraction(basis, molecule));
  problem.orthogonal = TRY(inverse_square_root(problem.overlap));
  problem.density = TRY(superposition_of_atoms(molecule, set, basis));
  return problem;
}

Result<Scf> restricted_scf(const ScfProblem& problem, TwoElectron& two_electron, const ScfOptions& options) {
  Scf scf;
  scf.density = problem.density;
  if (options.broadcast) TRY(options.broadcast(scf.density.values)); // later ones are of rank 0's orbitals
  GMatrix g_matrix(two_electron, options);
  Diis diis;
  int iteration = 0;
  const auto state = [&](StateList& list) {
    list.number("iteration", iteration).vector("history", scf.history).number("lowest", scf.has_lowest_orbitals);
    list.vector("orbital energies", scf.orbital_energies);
    list.number("size", scf.orbitals.size).vector("orbitals", scf.orbitals.values);
    g_matrix.list_state(list);
    diis.list_state(list);
  };
  for (; iteration < options.most_iterations && !scf.converged; ++iteration) {
    if (options.at_iteration) TRY(options.at_iteration(iteration, state));
    if (iteration > 0) scf.density = density_of(scf.orbitals, problem.occupied);
    scf.g = TRY(g_matrix.of(scf.density));
    Matrix fock = sum(problem.core, scf.g);
    scf.one_electron = inner(scf.density, problem.core);
    scf.two_electron = 0.5 * inner(scf.density, scf.g);
    scf.energy = problem.nuclear + scf.one_electron + scf.two_electron;
    const Matrix fds = product(fock, product(scf.density, problem.overlap));
    const Matrix error = transform(sum(fds, transposed(fds), -1), problem.orthogonal);
    scf.history.push_back({scf.energy, largest_entry(error)});
    if (options.progress) options.progress(scf.history.back());
    // The first density is of atoms, not of orbitals: its commutator says nothing.
    scf.converged = iteration > 0 && scf.history.back().commutator < options.tolerance;
    if (iteration > 0 && !scf.converged) fock = diis.extrapolate(fock, error);
    EigenPairs found = eigen_pairs(transform(fock, problem.orthogonal));
    scf.orbital_energies = std::move(found.values);
    scf.orbitals = product(problem.orthogonal, found.vectors);
    if (scf.converged) scf.has_lowest_orbitals = has_lowest_orbitals(scf, problem);
    scf.converged = scf.converged && scf.has_lowest_orbitals;
    TRY(take_rank_0s(scf, options.broadcast));
  }
  return scf;
}

Point dipole(const Molecule& molecule, const Basis& basis, const Matrix& density) {
  Point found = nuclear_dipole(molecule);
  const std::array<Matrix, 3> r = position(basis);
  for (int k = 0; k < 3; ++k) found[k] -= inner(density, r[k]);
  return found;
}

} // namespace kumihimo::hartree_fock
