// The limits that the kernels are compared with, measured on the team of threads beside them.
#pragma once

#include "base/result.hpp"

namespace kumihimo::bench {

// Multiplications and additions in registers, fused, in the widest vectors: flops per second of the whole team.
double peak_flops();

// STREAM's triad a = b + s c on arrays of `numbers` doubles each: bytes per second, 24 bytes a number. Error: memory.
class Triad {
 public:
  static Result<Triad> make(long numbers);
  Triad(Triad&&) noexcept;
  ~Triad();
  double bytes_per_second();

 private:
  struct Arrays;
  explicit Triad(Arrays* arrays);
  Arrays* arrays_;
};

} // namespace kumihimo::bench
