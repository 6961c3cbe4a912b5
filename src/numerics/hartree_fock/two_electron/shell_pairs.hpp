// Pairs of shells, prepared once for a basis: products of primitives as Hermite functions, screened, with bounds,
// sorted by kind and contraction, in blocks of a pair for each lane.
#pragma once

#include "hartree_fock/basis.hpp"
#include "hartree_fock/ranks.hpp"
#include "hartree_fock/two_electron/kernels.hpp"

#include <memory>
#include <span>
#include <vector>

namespace kumihimo::hartree_fock::two_electron {

struct ShellPair {
  int shell_a = 0, shell_b = 0; // a has p functions if one of them has
  int first_a = 0, first_b = 0; // functions
  double bound = 0;             // sqrt of the largest |(ab|ab)|: |(ab|cd)| <= bound of ab * bound of cd (Schwarz)
  Products products;            // as a ket
};

// Pairs that lie side by side in the lanes; lanes beyond `pairs` are zeros.
struct PairBlock {
  std::span<const ShellPair> pairs;
  std::int64_t first = 0; // place of the first in the order of pairs of its kind
  double bound = 0;       // largest
  Products products;      // as a bra
};

// Pairs of one kind whose shells have the same numbers of primitives, by falling bound.
struct PairList {
  std::span<const ShellPair> pairs;
  std::int64_t first = 0; // as in PairBlock
  std::vector<PairBlock> blocks;
  std::vector<double> bounds_after; // [i]: sum of the bounds of pairs i, i + 1, ...
};

class ShellPairs {
 public:
  // Products of primitives are left out if their bound times the largest of all is below `cutoff`, and pairs that have
  // no product left. Whole: sp shells stay one, kinds ss, ls, ll. Not whole, or if the basis has shells of p functions
  // alone: they are split into s and p shells, kinds ss, ps, pp.
  // Which products and pairs are kept, and the order of pairs, are those of rank 0 on all ranks: units of work depend
  // on them. Errors: those of `broadcast`.
  static Result<std::unique_ptr<ShellPairs>> make(const Basis& basis, const LaneKernels& kernels, bool whole,
                                                  double cutoff, const Broadcast& broadcast = {});
  ShellPairs(const ShellPairs&) = delete;
  ShellPairs& operator=(const ShellPairs&) = delete;

  bool whole() const { return whole_; }
  const std::vector<Shell>& shells() const { return shells_; }
  const std::vector<PairList>& of_kind(int kind) const { return lists_[kind]; }

  struct Draft; // a pair while it is made

 private:
  ShellPairs() = default;
  void write(int kind, std::span<Draft> drafts, int lanes);
  bool whole_ = true;
  std::vector<Shell> shells_;
  std::array<std::vector<ShellPair>, 5> pairs_;
  std::array<std::vector<PairList>, 5> lists_;
  std::vector<std::vector<double>> memory_;
};

} // namespace kumihimo::hartree_fock::two_electron
