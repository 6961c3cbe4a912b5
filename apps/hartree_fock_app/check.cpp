#include "hartree_fock_app/check.hpp"

#include "hartree_fock/golden.hpp"

#include <fmt/format.h>

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
constexpr double most_primitives = 2e6;

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

struct Pair {
  const Shell *a, *b;
};
std::vector<Pair> sampled_pairs(const Basis& basis) {
  const std::size_t shells = basis.shells.size(), pairs = shells * shells, step = step_of(pairs);
  const double of_all = primitives_of(basis);
  std::vector<Pair> found;
  double work = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t at = (i + 1) * step % pairs;
    const Pair pair{&basis.shells[at / shells], &basis.shells[at % shells]};
    work += 2 * of_all * of_all * static_cast<double>(pair.a->exponents.size() * pair.b->exponents.size());
    if (work > most_primitives && !found.empty()) break;
    found.push_back(pair);
  }
  return found;
}

} // namespace

nlohmann::json check_g_matrix(const Basis& basis, const Scf& scf, application::Runtime& runtime) {
  const std::vector<Pair> pairs = sampled_pairs(basis);
  double error = 0;
  for (std::size_t i = runtime.rank(); i < pairs.size(); i += runtime.ranks()) {
    const auto [a, b] = pairs[i];
    const std::vector<double> golden = g_block_golden(basis, scf.density, *a, *b);
    for (int m = 0; m < a->functions(); ++m)
      for (int n = 0; n < b->functions(); ++n) {
        const double difference = std::abs(scf.g(a->first + m, b->first + n) - golden[m * b->functions() + n]);
        error = std::isnan(difference) ? INFINITY : std::max(error, difference);
      }
  }
  error = runtime.processes().largest({error})[0];
  return {{"what", fmt::format("{} of {} blocks of G by the golden copy, in hartree", pairs.size(),
                               basis.shells.size() * basis.shells.size())},
          {"right", error <= bound},
          {"error", error},
          {"bound", bound}};
}

} // namespace kumihimo::hartree_fock_app
