#include "hartree_fock/two_electron/cuda/tables.hpp"

namespace kumihimo::hartree_fock::two_electron::cuda {
namespace {

// Places of pairs, by the shell that `shell` names.
void list_by_shell(const std::vector<DevicePair>& pairs, std::int32_t DevicePair::*shell, std::size_t shells,
                   std::vector<std::int32_t>& begin, std::vector<std::int32_t>& list) {
  begin.assign(shells + 1, 0);
  for (const DevicePair& pair : pairs) ++begin[static_cast<std::size_t>(pair.*shell) + 1];
  for (std::size_t s = 0; s < shells; ++s) begin[s + 1] += begin[s];
  std::vector<std::int32_t> next(begin.begin(), begin.end() - 1);
  list.resize(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i)
    list[static_cast<std::size_t>(next[static_cast<std::size_t>(pairs[i].*shell)]++)] = static_cast<std::int32_t>(i);
}

} // namespace

Tables::Tables(const ShellPairs& pairs, int functions) : shell_of(static_cast<std::size_t>(functions)) {
  const std::vector<Shell>& shells = pairs.shells();
  for (std::size_t s = 0; s < shells.size(); ++s) {
    first_of.push_back(shells[s].first);
    for (int i = 0; i < shells[s].functions(); ++i)
      shell_of[static_cast<std::size_t>(shells[s].first + i)] = static_cast<std::int32_t>(s);
  }
  for (int kind = 0; kind < 5; ++kind) {
    KindTables& tables = kinds[kind];
    const std::int64_t size = numbers_before_terms + kind_terms[kind].count;
    for (const PairList& list : pairs.of_kind(kind))
      for (const ShellPair& pair : list.pairs) {
        tables.pairs.push_back({pair.shell_a, pair.shell_b, pair.first_a, pair.first_b, pair.bound,
                                static_cast<std::int64_t>(numbers.size()), static_cast<std::int64_t>(bounds.size()),
                                pair.products.count});
        numbers.insert(numbers.end(), pair.products.numbers, pair.products.numbers + size * pair.products.count);
        bounds.insert(bounds.end(), pair.products.bounds, pair.products.bounds + pair.products.count);
      }
    list_by_shell(tables.pairs, &DevicePair::shell_a, shells.size(), tables.begin_a, tables.list_a);
    list_by_shell(tables.pairs, &DevicePair::shell_b, shells.size(), tables.begin_b, tables.list_b);
  }
}

} // namespace kumihimo::hartree_fock::two_electron::cuda
