// Builds of G by the processors and an accelerator together. The split of each class is tuned from build to build.
#pragma once

#include "hartree_fock/two_electron/build.hpp"
#include "hartree_fock/two_electron/device.hpp"
#include "hartree_fock/two_electron/split.hpp"

#include <functional>

namespace kumihimo::hartree_fock::two_electron {

// How the ranks of a run share builds: each computes its units by its own processors and accelerator.
struct Sharing {
  int rank = 0, ranks = 1;
  // Collective; null: one rank. The error of the lowest rank that has one; sums over ranks, in place, on all.
  std::function<Status(const Status&)> agree;
  std::function<Status(std::span<double>)> sum;
};

// Units of a rank. All ranks have the same units, by falling cost: each goes to the rank with the least cost so far
// (R. L. Graham, SIAM J. Appl. Math. 17 (1969) 416).
std::vector<std::int64_t> units_of_rank(std::span<const QuartetUnit> units, int rank, int ranks);

class Hybrid final : public TwoElectron {
 public:
  // `device_alone`: the device computes all, for measurements. Error: sums in fixed point, which devices do not make.
  static Result<std::unique_ptr<Hybrid>> make(std::unique_ptr<TwoElectronBuilder> builder,
                                              std::unique_ptr<Device> device, bool device_alone = false,
                                              Sharing sharing = {});
  Result<CoulombExchange> build(const Matrix& density, double threshold) override;
  // Quartets and seconds of both.
  std::vector<ClassWork> work() const override;
  const std::vector<double>& shares() const { return shares_; } // of the last build, by cost

 private:
  Hybrid(std::unique_ptr<TwoElectronBuilder> builder, std::unique_ptr<Device> device, bool device_alone,
         Sharing sharing);
  // Units of the device and of the processors: of each class the first go to the device, up to its share of the cost.
  void divide(std::span<const double> wanted);
  void learn(std::span<const Tally> on_device);

  std::unique_ptr<TwoElectronBuilder> builder_;
  std::unique_ptr<Device> device_;
  bool device_alone_;
  Sharing sharing_;
  std::vector<std::int64_t> units_; // of this rank
  WorkSplit split_;
  std::vector<std::int64_t> of_device_, of_processors_;
  std::vector<double> shares_;
  std::vector<Tally> device_work_; // of all builds, by class
};

} // namespace kumihimo::hartree_fock::two_electron
