// The part of an update that goes to a device, alpha = device columns / all columns, tuned as the factorisation runs.
#pragma once

#include <cstdint>

namespace kumihimo::lu {

class UpdateSplit {
 public:
  explicit UpdateSplit(double share = 0.5);

  double share() const { return share_; } // alpha, in [least, 1 - least]
  bool holds() const { return holds_; }
  std::int64_t device_columns(std::int64_t columns) const; // the first ones of an update of so many

  struct Part {
    double flops = 0, seconds = 0; // with what it waited for a device that others use
  };
  // After each panel. A part without work, or without a time, keeps the rate that was last measured.
  //
  // Alpha goes `damping` of the way to rate of the device / sum of both rates. It holds after `steady` panels within
  // `near` of that, so that noise does not move it. It moves again after `strayed` panels beyond `far`. It stays away
  // from 0 and 1, so that both parts are measured: a device that stalls gets few columns, and more when it is back.
  void measured(const Part& device, const Part& processors);

  static constexpr double damping = 0.5, near = 0.02, far = 0.08, least = 1.0 / 128;
  static constexpr int steady = 4, strayed = 2;

 private:
  double share_;
  double device_rate_ = 0, processor_rate_ = 0; // flops a second; 0: not known
  bool holds_ = false;
  int near_ = 0, far_ = 0; // panels in a row
};

} // namespace kumihimo::lu
