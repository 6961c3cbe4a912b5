// The golden copy over ranks: the whole grid is gathered on rank 0, transformed there by fft::golden, and scattered.
#pragma once

#include "application/kernel_times.hpp"
#include "application/runtime.hpp"
#include "fft3d/problem.hpp"

#include <array>
#include <memory>

namespace kumihimo::fft3d {

// What ranks have of a whole grid on one side of a transform: boxes, or coefficients of a sphere.
class DistributedSide {
 public:
  virtual ~DistributedSide() = default;
  // Of one band. `whole`: of all points, on rank 0. Collective.
  virtual Status gather(const void* own, std::int64_t band, fft::Complex* whole) = 0;
  virtual Status scatter(const fft::Complex* whole, void* own, std::int64_t band) = 0;
};

class GatheredTransform {
 public:
  // Collective. `problem` and `runtime` outlive it. Errors: no memory for the grid on rank 0.
  static Result<std::unique_ptr<GatheredTransform>> make(const FftProblem& problem, application::Runtime& runtime);

  // As DistributedFft, or SphereFft::to_grid() and to_coefficients(). Collective.
  Status forward(const void* in, void* out) { return transform(0, in, out); }
  Status backward(const void* in, void* out) { return transform(1, in, out); }
  application::KernelTimes& times() { return times_; }

 private:
  explicit GatheredTransform(const FftProblem& problem) : problem_(problem) {}
  Status transform(std::size_t from, const void* in, void* out);

  const FftProblem& problem_;
  Grid whole_;                                            // on rank 0
  std::array<std::unique_ptr<DistributedSide>, 2> sides_; // before and after the forward transform
  application::KernelTimes times_;
  std::size_t row_ = 0;
};

} // namespace kumihimo::fft3d
