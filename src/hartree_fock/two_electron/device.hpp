// An accelerator that computes units of a builder while the processors compute others.
#pragma once

#include "base/result.hpp"
#include "hartree_fock/matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::hartree_fock::two_electron {

class Device {
 public:
  virtual ~Device() = default;
  // Begins to compute these units of Builder::units(), and returns. Both live until finish().
  virtual Status start(const Matrix& density, double threshold, std::span<const std::int64_t> units) = 0;
  // Waits, adds the halves of J and K (as Halves<double>::values has them) to `halves`, and sets the seconds that each
  // class took. Error: the accelerator's.
  virtual Status finish(std::span<double> halves, std::span<double> class_seconds) = 0;
};

} // namespace kumihimo::hartree_fock::two_electron
