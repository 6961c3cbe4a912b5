// Every kernel of every set of instructions against the golden copy, quartet by quartet.
#include "hartree_fock/golden.hpp"
#include "hartree_fock/two_electron/instructions.hpp"
#include "hartree_fock/two_electron/products.hpp"
#include "hartree_fock/two_electron/shell_pairs.hpp"
#include "hartree_fock/two_electron/units.hpp"
#include "two_electron/random_basis.hpp"

#include <gtest/gtest.h>

namespace kumihimo::hartree_fock::two_electron {
namespace {

// The largest error of the integrals of all blocks and kets of a class, relative to the Schwarz bound.
double largest_error(const ShellPairs& pairs, const LaneKernels& kernels, const QuartetClass& quartets) {
  const int bra_functions = pair_kinds[quartets.bra].functions(), ket_functions = pair_kinds[quartets.ket].functions();
  const std::vector<Shell>& shells = pairs.shells();
  std::vector<double> found(static_cast<std::size_t>(bra_functions * ket_functions * kernels.lanes));
  double error = 0;
  int compared = 0;
  for (const PairList& bras : pairs.of_kind(quartets.bra))
    for (const PairBlock& block : bras.blocks)
      for (const PairList& kets : pairs.of_kind(quartets.ket))
        for (const ShellPair& ket : kets.pairs) {
          kernels.of[quartets.bra][quartets.ket].integrals(block.products, ket.products, 0, found.data());
          for (std::size_t lane = 0; lane < block.pairs.size(); ++lane) {
            const ShellPair& bra = block.pairs[lane];
            const std::vector<double> golden =
                repulsion_golden(shells[bra.shell_a], shells[bra.shell_b], shells[ket.shell_a], shells[ket.shell_b]);
            for (std::size_t i = 0; i < golden.size(); ++i) {
              const double bound = bra.bound * ket.bound;
              EXPECT_LE(std::abs(golden[i]), bound * (1 + 1e-10));
              error = std::max(error, std::abs(found[i * kernels.lanes + lane] - golden[i]) / bound);
              ++compared;
            }
          }
        }
  EXPECT_GT(compared, 0);
  return error;
}

class KernelsOf : public testing::TestWithParam<std::string_view> {};

TEST_P(KernelsOf, GiveTheGoldenIntegrals) {
  const LaneKernels& kernels = **kernels_of(GetParam());
  using enum ShellType;
  for (unsigned seed = 1; seed <= 3; ++seed)
    for (const bool whole : {false, true}) {
      Random random(seed);
      const ShellType p_type = whole ? sp : p;
      const Basis basis = random.basis({s, p_type, s, p_type, s}, seed == 3 ? 12.0 : 3.0);
      const std::unique_ptr<ShellPairs> pairs = *ShellPairs::make(basis, kernels, whole, 0);
      for (const QuartetClass& quartets : quartet_classes(whole))
        EXPECT_LT(largest_error(*pairs, kernels, quartets), 1e-12) << name_of(quartets) << " seed " << seed;
    }
}

// A wrong number in one product must show.
TEST_P(KernelsOf, WrongExponentIsFound) {
  const LaneKernels& kernels = **kernels_of(GetParam());
  Random random(4);
  Basis basis = random.basis({ShellType::sp, ShellType::sp, ShellType::s}, 2.0);
  const std::unique_ptr<ShellPairs> pairs = *ShellPairs::make(basis, kernels, true, 0);
  const PairList& list = pairs->of_kind(kind_ll).front();
  const_cast<double*>(list.blocks.front().products.numbers)[0] *= 1 + 1e-9;
  EXPECT_GT(largest_error(*pairs, kernels, {kind_ll, kind_ll}), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Instructions, KernelsOf, testing::ValuesIn(instruction_sets()),
                         [](const auto& set) { return std::string(set.param); });

} // namespace
} // namespace kumihimo::hartree_fock::two_electron
