// Builds of G by the processors and an accelerator together. The split of each class is tuned from build to build.
#pragma once

#include "hartree_fock/two_electron/build.hpp"
#include "hartree_fock/two_electron/device.hpp"
#include "hartree_fock/two_electron/split.hpp"

namespace kumihimo::hartree_fock::two_electron {

class Hybrid final : public TwoElectron {
 public:
  // `device_alone`: the device computes all, for measurements. Error: sums in fixed point, which devices do not make.
  static Result<std::unique_ptr<Hybrid>> make(std::unique_ptr<Builder> builder, std::unique_ptr<Device> device,
                                              bool device_alone = false);
  Result<CoulombExchange> build(const Matrix& density, double threshold) override;
  // Quartets of the processors; seconds of both.
  std::vector<ClassWork> work() const override;
  const std::vector<double>& shares() const { return shares_; } // of the last build, by cost

 private:
  Hybrid(std::unique_ptr<Builder> builder, std::unique_ptr<Device> device, bool device_alone);
  // Units of the device and of the processors: of each class the first go to the device, up to its share of the cost.
  void divide(std::span<const double> wanted);

  std::unique_ptr<Builder> builder_;
  std::unique_ptr<Device> device_;
  bool device_alone_;
  Split split_;
  std::vector<std::int64_t> of_device_, of_processors_;
  std::vector<double> shares_;
  std::vector<double> device_seconds_; // of all builds, by class
};

} // namespace kumihimo::hartree_fock::two_electron
