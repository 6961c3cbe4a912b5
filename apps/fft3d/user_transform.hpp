// The transform of a user's program: what the C interface (kumihimo/fft.h) and that for Python plan and execute.
#pragma once

#include "application/job_processes.hpp"
#include "application/runtime.hpp"
#include "distributed_fft/distributed_fft.hpp"
#include "fft/line_library.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace kumihimo::fft3d {

enum class TransformSide : std::uint8_t { grid, spectrum };

struct UserRequest {
  fft::Triple points{};
  std::int64_t bands = 1;
  distributed_fft::GridKind kind = distributed_fft::GridKind::complex;
  // "variant=window threads=2": words NAME=VALUE. Names are `variant` ("auto": through a window on one node, else
  // fused), its parameters (`block`, `at_once`, `throttle`...), `threads` of each rank, `wisdom` (the folder that keeps
  // what was measured), and of the application's options those of plans: decomposition, exchange, wire, planning,
  // library.
  std::string options;
};

class UserTransform {
 public:
  // Collective; `processes` outlives it. Errors, on which all ranks agree: those of the values; no FFTW; no memory.
  static Result<std::unique_ptr<UserTransform>> make(const UserRequest& request, application::Processes& processes);

  // As DistributedFft. Collective. The number of OpenMP's threads is the caller's again afterwards. Error: a null
  // pointer where this rank has points.
  Status forward(const void* grid, void* spectrum);
  Status backward(const void* spectrum, void* grid);

  fft::PointBox box(TransformSide side) const;  // of this rank
  fft::Triple points(TransformSide side) const; // of all ranks
  // "window, 2x1 ranks, lines by libfftw3.so.3 (...)", and why measurements could not be kept.
  const std::string& description() const { return description_; }

 private:
  UserTransform() = default;
  Status plan(const UserRequest& request, application::Processes& processes);
  Status check(const void* grid, const void* spectrum) const;

  fft::RankPencils grid_, spectrum_;
  std::int32_t rank_ = 0;
  int threads_ = 1;
  std::string description_;
  std::unique_ptr<application::Runtime> runtime_;
  std::unique_ptr<fft::LineLibrary> library_;
  std::unique_ptr<distributed_fft::DistributedFft> transform_;
};

} // namespace kumihimo::fft3d
