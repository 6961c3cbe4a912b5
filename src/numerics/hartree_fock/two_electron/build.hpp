// Builds of J, K and G with the kernels of this folder, by threads.
#pragma once

#include "hartree_fock/two_electron.hpp"
#include "hartree_fock/two_electron/dealing.hpp"
#include "hartree_fock/two_electron/instructions.hpp"
#include "hartree_fock/two_electron/units.hpp"

#include <memory>
#include <string>

namespace kumihimo::hartree_fock::two_electron {

// How threads add up J and K.
enum class Threads {
  private_matrices, // each its own, summed at the end
  atomics,          // one for all
  class_tasks       // private matrices; the work of each class is an OpenMP task that makes tasks of its units
};

struct BuildSettings {
  std::string instructions; // a set of instruction_sets(); empty: the widest
  bool whole = true;        // sp shells stay whole (ShellPairs); false: the six classes of s and p
  Threads threads = Threads::private_matrices;
  bool reproducible = false; // the same bits for all numbers of threads and ranks (with the same instructions)
  double cutoff = 1e-16;     // of products of primitives
};

class TwoElectronBuilder {
 public:
  // Collective with several ranks: all number the same units, though their last bits differ. Errors: this processor
  // does not run the instructions; ranks have different basis functions; those of `ranks`.
  static Result<std::unique_ptr<TwoElectronBuilder>> make(const Basis& basis, const BuildSettings& settings,
                                                          const BuildRanks& ranks = {});

  // J and K of a symmetric density. Quartets that add at most `threshold` to each element may be left out; see
  // left_out(). Errors: those of `ranks`.
  Result<CoulombExchange> build(const Matrix& density, double threshold, const BuildRanks& ranks = {});

  // Of the last build on this process, by class.
  const std::vector<Tally>& tallies() const { return tallies_; }
  // Of all builds on this process so far; of a new builder the names of the classes.
  const std::vector<ClassWork>& work() const { return work_; }
  // Bound of the error of any element of J and K by quartets of shells left out in the last build, on this process.
  double left_out() const;
  const std::vector<QuartetUnit>& units() const { return units_; }
  const ShellPairs& pairs() const { return *pairs_; }
  int functions() const { return functions_; }
  bool whole() const { return whole_; }
  const BuildSettings& settings() const { return settings_; }

 private:
  TwoElectronBuilder(const Basis& basis, const LaneKernels& kernels, const BuildSettings& settings,
                     std::unique_ptr<ShellPairs> pairs);
  template <class T, class MakeAdd>
  SumHalves<T> half_sums(const UnitTask& task, Dealer& dealer, MakeAdd&& make_add);
  double largest_element(const ScreenedDensity& density) const;
  void add_to_work();

  const LaneKernels& kernels_;
  BuildSettings settings_;
  int functions_;
  bool whole_;
  std::unique_ptr<ShellPairs> pairs_;
  std::vector<QuartetUnit> units_;
  std::vector<std::int64_t> all_units_; // their numbers
  std::vector<Tally> tallies_;
  std::vector<ClassWork> work_;
};

// A builder as the variant of an SCF calculation.
Result<std::unique_ptr<TwoElectron>> make_two_electron(const Basis& basis, const BuildSettings& settings,
                                                       const BuildRanks& ranks = {});

} // namespace kumihimo::hartree_fock::two_electron
