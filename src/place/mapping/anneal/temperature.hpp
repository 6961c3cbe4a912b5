// The temperature of an annealing, steered by how many uphill proposals it accepts.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace kumihimo::mapping {

// Samples of an exponential distribution: a proposal is accepted where it adds at most temperature * sample.
class Exponentials {
 public:
  Exponentials();
  double operator()(std::uint64_t bits) const { return samples_[bits % samples_.size()]; }

 private:
  std::array<double, 1024> samples_;
};

// The share of uphill proposals that are accepted falls from `hot` to `cold` geometrically, so that neither the unit of
// the objective nor the quality of the start matters (after Lam and Delosme, DAC 1988, who fix the whole course).
class Temperature {
 public:
  static constexpr double cold = 1e-3;

  // `uphill`: increases of some proposals. Sets the temperature at which the share is accepted.
  void heat(const std::vector<double>& uphill, double accepted);
  double value() const { return value_; }
  // After a batch of proposals, at this share of the whole course.
  void steer(double done, std::int64_t uphill, std::int64_t accepted);

 private:
  double value_ = 0, hot_ = 0, rate_ = 0; // rate_: smoothed share
};

} // namespace kumihimo::mapping
