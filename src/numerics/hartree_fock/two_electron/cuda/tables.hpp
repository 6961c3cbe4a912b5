// What a GPU needs of a builder, in arrays that can be copied to it as they are.
#pragma once

#include "hartree_fock/two_electron/cuda/chunk.hpp"
#include "hartree_fock/two_electron/shell_pairs.hpp"

#include <vector>

namespace kumihimo::hartree_fock::two_electron::cuda {

struct KindTables {
  std::vector<DevicePair> pairs; // in the order of pairs of the kind
  std::vector<std::int32_t> begin_a, list_a, begin_b, list_b;

  DevicePairKind view() const {
    return {pairs.data(), static_cast<std::int32_t>(pairs.size()), begin_a.data(), list_a.data(), begin_b.data(),
            list_b.data()};
  }
};

struct Tables {
  std::array<KindTables, 5> kinds;
  std::vector<double> numbers, bounds;
  std::vector<std::int32_t> shell_of, first_of; // of functions; of shells

  Tables(const ShellPairs& pairs, int functions);
};

} // namespace kumihimo::hartree_fock::two_electron::cuda
