// Units of work: the quartets of one block of bra pairs with all kets of one kind. They depend on the basis and on the
// number of lanes alone, so threads and ranks share the same ones, in any order.
#pragma once

#include "hartree_fock/two_electron/density.hpp"
#include "hartree_fock/two_electron/shell_pairs.hpp"
#include "hartree_fock/two_electron/sums.hpp"

#include <vector>

namespace kumihimo::hartree_fock::two_electron {

struct QuartetClass {
  int bra = 0, ket = 0; // kinds
  bool operator==(const QuartetClass&) const = default;
};
// (ss,ss) (ps,ss) (ps,ps) (pp,ss) (pp,ps) (pp,pp), or with l = s and p together in place of p.
std::vector<QuartetClass> quartet_classes(bool whole);
std::string name_of(const QuartetClass& quartets); // "(ps,ss)"

struct QuartetUnit {
  int number = 0; // of the class among quartet_classes()
  QuartetClass quartets;
  const PairBlock* block = nullptr;
  double cost = 0; // primitive quartets, weighted; for the order alone
};
// By falling cost.
std::vector<QuartetUnit> make_units(const ShellPairs& pairs, bool whole);

struct Tally {
  std::int64_t quartets = 0, screened = 0; // of shells: computed, left out
  std::int64_t primitives = 0;             // quartets of primitives computed
  double left_out = 0;                     // bound of what the quartets left out add to any one element of J or K
  std::int64_t nanoseconds = 0;            // of processor time
  void operator+=(const Tally& other);
};

struct UnitTask {
  const LaneKernels& kernels;
  const ShellPairs& pairs;
  const ScreenedDensity& density;
  double threshold = 0; // of what a quartet adds to one element of J or K
  double cutoff = 0;    // of primitive quartets
};

// Adds the half sums of a unit to J and K.
template <class Add>
void compute(const QuartetUnit& unit, const UnitTask& task, const Add& j, const Add& k, Tally& tally);
extern template void compute(const QuartetUnit&, const UnitTask&, const AddPlain&, const AddPlain&, Tally&);
extern template void compute(const QuartetUnit&, const UnitTask&, const AddAtomic&, const AddAtomic&, Tally&);
extern template void compute(const QuartetUnit&, const UnitTask&, const AddFixed&, const AddFixed&, Tally&);
extern template void compute(const QuartetUnit&, const UnitTask&, const AddAtomicFixed&, const AddAtomicFixed&, Tally&);

} // namespace kumihimo::hartree_fock::two_electron
