// Complex transforms in three dimensions over ranks. Forward: from lines along z (fft::RankPencils::box(2, rank)) to
// lines along x (box(0, rank)); each rank has its box as a dense array, z contiguous, bands behind each other.
// Backward: back. No factor is applied: backward after forward multiplies by the number of points. RankPencils: I.
// Foster and P. Worley, "Parallel algorithms for the spectral transform method", SIAM J. Sci. Comput. 18 (1997),
// section 3.
#pragma once

#include "application/kernel_times.hpp"
#include "application/runtime.hpp"
#include "distributed_fft/profile.hpp"
#include "distributed_fft/transform_way.hpp"
#include "distributed_fft/transposition.hpp"
#include "fft/line_library.hpp"
#include "fft/pencils.hpp"
#include "fft/stage.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::distributed_fft {

class DistributedFft {
 public:
  // Collective. `runtime` outlives it. Errors: those of the library, the schedules and the memory.
  static Result<std::unique_ptr<DistributedFft>> make(const fft::RankPencils& pencils, std::int64_t bands,
                                                      const TransformWay& way, fft::LineLibrary& library,
                                                      application::Runtime& runtime);
  ~DistributedFft();

  // Collective. `in` is not written, and may not overlap `out`. After an error there is no other transform.
  Status forward(const fft::Complex* in, fft::Complex* out);
  Status backward(const fft::Complex* in, fft::Complex* out);

  double flops() const;      // of this rank, of one transform of all bands
  double bytes_sent() const; // of this rank to others, by messages, of one transform of all bands
  int exchanges() const;     // that a point goes through in one transform
  application::KernelTimes& times() { return times_; }
  TransformProfile& profile() { return profile_; } // of a way that profiles

 private:
  class Pipeline;
  DistributedFft() = default;
  std::unique_ptr<Pipeline> forward_, backward_;
  application::KernelTimes times_;
  TransformProfile profile_;
};

// The blocks of each exchange of a forward transform.
std::vector<BlockTable> block_tables(const fft::RankPencils& pencils, const TransformWay& way);
// Bytes of a rank that a transform needs beside its input and output.
double bytes_needed(const fft::RankPencils& pencils, std::int32_t rank, std::int64_t bands, const TransformWay& way);

} // namespace kumihimo::distributed_fft
