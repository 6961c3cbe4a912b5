// The result of a collective by its definition in the MPI standard, without an algorithm. It shares the row of
// collectives.def with schedules. The golden copy and the MPI library's own result must both agree with it.
#pragma once

#include "bench_driver/golden.hpp"
#include "schedule/data.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace kumihimo::bench_driver {

class Definition {
 public:
  using Inputs = std::function<Vector(std::int32_t rank)>; // of all ranks, called for one at a time

  // Needs the memory of two results and of one input.
  Definition(const Collective& collective, Rank rank, const Inputs& inputs, const Combine& plain);

  // The first wrong element, or -1. Sums and products of floats may differ from those in rank order by the difference
  // of two orders (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2); all others are exact.
  std::int64_t first_wrong(const std::byte* result) const;

 private:
  void add(const Contribution& part, const Inputs& inputs, const Combine& plain);

  Collective c_;
  std::size_t terms_ = 1; // of each sum
  bool rounds_ = false;
  Vector expected_, magnitude_; // the latter of what rounds
};

} // namespace kumihimo::bench_driver
