#include "hartree_fock/triplet.hpp"

#include "hartree_fock/linear_algebra.hpp"

namespace kumihimo::hartree_fock {
namespace {

constexpr int most_orbitals = 5;
constexpr double as_high = 0.02; // hartree

// |i><i|
Matrix density_of_orbital(const Matrix& orbitals, int i) {
  Matrix density(orbitals.size);
  for (int a = 0; a < orbitals.size; ++a)
    for (int b = 0; b < orbitals.size; ++b) density(a, b) = orbitals(a, i) * orbitals(b, i);
  return density;
}

} // namespace

double triplet_energy(double occupied_energy, double empty_energy, double coulomb) {
  return empty_energy - occupied_energy - coulomb;
}

Result<std::optional<Triplet>> lowest_triplet(const Scf& scf, int occupied, TwoElectron& two_electron,
                                              double threshold) {
  const std::vector<double>& levels = scf.orbital_energies;
  const int orbitals = static_cast<int>(levels.size()), highest = occupied - 1;
  std::optional<Triplet> lowest;
  if (occupied == orbitals) return lowest;
  for (int from = highest; from >= 0 && highest - from < most_orbitals; --from) {
    if (levels[from] < levels[highest] - as_high) break;
    const CoulombExchange sums = TRY(two_electron.build(density_of_orbital(scf.orbitals, from), threshold));
    const Matrix coulomb = transform(sums.j, scf.orbitals);
    for (int to = occupied; to < orbitals; ++to) {
      const double energy = triplet_energy(levels[from], levels[to], coulomb(to, to));
      if (!lowest || energy < lowest->energy) lowest = {energy, from, to};
    }
  }
  return lowest;
}

} // namespace kumihimo::hartree_fock
