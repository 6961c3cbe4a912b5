#include "hartree_fock_app/check.hpp"

#include "hartree_fock/golden.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kumihimo::hartree_fock_app {

using namespace hartree_fock;

namespace {

// Of an entry of G, hartree: what is screened and the rounding of all increments stay far below it, and an energy whose
// G is wrong by this in single entries is right to 1e-8.
constexpr double bound = 1e-9;
// A golden quartet of primitives takes about 1 us, those of the SCF 0.008 us: 2 s, or a tenth of a longer SCF, if the
// first block does not take more.
constexpr double least_budget = 2e6, of_scf = 1e-3;
// The largest entry of a sample must be far above the bound: G = 0 would pass where all entries are tiny.
constexpr double least_entry = 1e3 * bound;

// Prime to the number of pairs, so that its multiples are all of them; near the golden ratio, so that they spread.
std::size_t step_of(std::size_t pairs) {
  std::size_t step = static_cast<std::size_t>(0.618 * static_cast<double>(pairs)) | 1;
  while (std::gcd(step, pairs) != 1) ++step;
  return step;
}

double primitives_of(const Basis& basis) {
  double found = 0;
  for (const Shell& shell : basis.shells) found += static_cast<double>(shell.exponents.size());
  return found;
}

struct PairOfShells {
  const Shell *a, *b;
  std::size_t products() const { return a->exponents.size() * b->exponents.size(); }
  std::size_t work() const { return products() * a->functions() * b->functions(); }
};

// All pairs in an order in which any beginning of it is spread over the matrix: by turns a diagonal block of a heaviest
// atom, where G is large, those of least work first, and one of the others.
std::vector<PairOfShells> ordered_pairs(const MoleculeProblem& problem) {
  const std::vector<Shell>& shells = problem.basis.shells;
  const std::vector<Atom>& atoms = problem.molecule.atoms;
  const int heaviest = std::ranges::max_element(atoms, {}, &Atom::number)->number;
  const std::size_t pairs = shells.size() * shells.size(), step = step_of(pairs);
  std::vector<PairOfShells> diagonal, others, found;
  for (std::size_t i = 1; i <= pairs; ++i) {
    const std::size_t at = i * step % pairs;
    const PairOfShells pair{&shells[at / shells.size()], &shells[at % shells.size()]};
    const bool is_heavy = pair.a == pair.b && atoms[pair.a->atom].number == heaviest;
    (is_heavy ? diagonal : others).push_back(pair);
  }
  std::ranges::stable_sort(diagonal, {}, &PairOfShells::work);
  for (std::size_t i = 0; i < std::max(diagonal.size(), others.size()); ++i) {
    if (i < diagonal.size()) found.push_back(diagonal[i]);
    if (i < others.size()) found.push_back(others[i]);
  }
  return found;
}

std::vector<PairOfShells> sampled_pairs(const MoleculeProblem& problem, double most_primitives) {
  const double of_all = primitives_of(problem.basis);
  std::vector<PairOfShells> found;
  double work = 0;
  for (const PairOfShells& pair : ordered_pairs(problem)) {
    work += 2 * of_all * of_all * static_cast<double>(pair.products());
    if (work > most_primitives && !found.empty()) break;
    found.push_back(pair);
  }
  return found;
}

} // namespace

nlohmann::json check_g_matrix(const MoleculeProblem& problem, const Scf& scf, double scf_primitives,
                              application::Runtime& runtime) {
  const Basis& basis = problem.basis;
  const std::vector<PairOfShells> pairs =
      sampled_pairs(problem, runtime.ranks() * std::max(least_budget, of_scf * scf_primitives));
  double error = 0, largest = 0;
  for (std::size_t i = runtime.rank(); i < pairs.size(); i += runtime.ranks()) {
    const auto [a, b] = pairs[i];
    const std::vector<double> golden = g_block_golden(basis, scf.density, *a, *b);
    for (int m = 0; m < a->functions(); ++m)
      for (int n = 0; n < b->functions(); ++n) {
        const double exact = golden[m * b->functions() + n];
        const double difference = std::abs(scf.g(a->first + m, b->first + n) - exact);
        error = std::isnan(difference) ? INFINITY : std::max(error, difference);
        largest = std::max(largest, std::abs(exact));
      }
  }
  const std::vector<double> of_all = runtime.processes().largest({error, largest});
  error = of_all[0], largest = of_all[1];
  return {{"what", fmt::format("{} of {} blocks of G by the golden copy, entries up to {:.1g}, in hartree",
                               pairs.size(), basis.shells.size() * basis.shells.size(), largest)},
          {"right", error <= bound && largest >= least_entry},
          {"error", error},
          {"bound", bound}};
}

} // namespace kumihimo::hartree_fock_app
