// An accelerator that computes units of a builder while the processors compute others.
#pragma once

#include "base/result.hpp"
#include "hartree_fock/matrix.hpp"
#include "hartree_fock/two_electron/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::hartree_fock::two_electron {

// All calls of one device are by one thread.
class Device {
 public:
  virtual ~Device() = default;
  // Begins to compute these units of TwoElectronBuilder::units(), and returns when its inputs are copied, without
  // waiting for the computation. `density` lives until finish(), which comes before the next start().
  virtual Status start(const Matrix& density, double threshold, std::span<const std::int64_t> units) = 0;
  // Waits, adds the halves of J and K (as Halves<double>::values has them) to `halves`, and sets what each class did,
  // with the accelerator's time and without the bound of what is left out. Error: the accelerator's.
  virtual Status finish(std::span<double> halves, std::span<Tally> of_class) = 0;
};

} // namespace kumihimo::hartree_fock::two_electron
