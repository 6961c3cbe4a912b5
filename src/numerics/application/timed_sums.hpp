// Sums over ranks, and the time that a rank spends in them.
#pragma once

#include "application/kernel_times.hpp"
#include "krylov/linear_system.hpp"

namespace kumihimo::application {

class TimedSums final : public krylov::Sums {
 public:
  TimedSums(krylov::Sums& sums, KernelTimes& times)
      : sums_(sums), times_(times), row_(times.declare("sums over ranks", {})) {}
  Status sum(std::span<double> values) override {
    return times_.timed(row_, [&] { return sums_.sum(values); });
  }
  Status start(std::span<double> values) override { return sums_.start(values); }
  Status wait() override {
    return times_.timed(row_, [&] { return sums_.wait(); });
  }

 private:
  krylov::Sums& sums_;
  KernelTimes& times_;
  std::size_t row_;
};

} // namespace kumihimo::application
