#include "hartree_fock/two_electron/agreement.hpp"

#include "base/hash.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace kumihimo::hartree_fock::two_electron {
namespace {

// Whether a hash is the same on all ranks.
Result<bool> is_same(std::uint64_t hash, const BuildRanks& ranks) {
  if (!ranks.broadcast) return true;
  const auto mine = static_cast<double>(hash >> 11); // 53 bits are exact
  double first = mine;
  TRY(ranks.broadcast({&first, 1}));
  double others = first != mine;
  TRY(ranks.sum({&others, 1}));
  return others == 0;
}

// Whether numbers are rank 0's but for rounding, on all ranks.
Result<bool> are_near(const std::vector<double>& mine, const BuildRanks& ranks) {
  if (!ranks.broadcast) return true;
  std::vector<double> first = mine;
  TRY(ranks.broadcast(first));
  double others = 0;
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (std::abs(mine[i] - first[i]) > 1e-9 * (1 + std::abs(first[i]))) others = 1;
  TRY(ranks.sum({&others, 1}));
  return others == 0;
}

// Positions and coefficients: some come from functions of the C library.
std::vector<double> numbers_of(const Basis& basis) {
  std::vector<double> found;
  for (const Shell& shell : basis.shells)
    for (const std::span<const double> each :
         {std::span<const double>(shell.center), std::span<const double>(shell.s), std::span<const double>(shell.p)})
      found.insert(found.end(), each.begin(), each.end());
  return found;
}

} // namespace

Status agree_on_basis(const Basis& basis, const BuildRanks& ranks) {
  std::uint64_t hash = basis.shells.size();
  for (const Shell& shell : basis.shells) {
    hash = mixed(hash, static_cast<std::uint64_t>(shell.type));
    hash = mixed(hash, shell.exponents.size());
    for (const double exponent : shell.exponents) hash = mixed(hash, std::bit_cast<std::uint64_t>(exponent));
  }
  const bool same_shells = TRY(is_same(hash, ranks)), same = same_shells && TRY(are_near(numbers_of(basis), ranks));
  if (!same) return failed("the ranks have different molecules or basis sets", {}, "give all nodes the same files");
  return Nothing{};
}

Status agree_on_units(const std::vector<QuartetUnit>& units, const ShellPairs& pairs, const BuildRanks& ranks) {
  std::uint64_t hash = units.size();
  for (const QuartetUnit& unit : units) {
    hash = mixed(hash, static_cast<std::uint64_t>(unit.number));
    hash = mixed(hash, static_cast<std::uint64_t>(unit.block->first));
    hash = mixed(hash, unit.block->pairs.size());
    hash = mixed(hash, std::bit_cast<std::uint64_t>(unit.cost));
  }
  for (int kind = 0; kind < 5; ++kind)
    for (const PairList& list : pairs.of_kind(kind))
      for (const ShellPair& pair : list.pairs) {
        hash = mixed(hash, static_cast<std::uint64_t>(pair.shell_a));
        hash = mixed(hash, static_cast<std::uint64_t>(pair.shell_b));
        hash = mixed(hash, std::bit_cast<std::uint64_t>(pair.bound));
      }
  const bool same = TRY(is_same(hash, ranks));
  if (!same) return failed("the ranks divide the integrals differently", {}, "run the same program on all nodes");
  return Nothing{};
}

} // namespace kumihimo::hartree_fock::two_electron
