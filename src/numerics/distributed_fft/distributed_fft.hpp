// Transforms in three dimensions over ranks. Forward: from lines along z (fft::RankPencils::box(2, rank)) to lines
// along x (box(0, rank)); each rank has its box as a dense array, z contiguous, bands behind each other. Backward:
// back. No factor is applied: backward after forward multiplies by the number of points. Of real grids the spectrum has
// the frequencies 0 to nz / 2 along z (half_spectrum()); the others are the conjugates of these. RankPencils: I. Foster
// and P. Worley, "Parallel algorithms for the spectral transform method", SIAM J. Sci. Comput. 18 (1997), section 3.
#pragma once

#include "application/kernel_times.hpp"
#include "application/runtime.hpp"
#include "distributed_fft/exchange_choice.hpp"
#include "distributed_fft/profile.hpp"
#include "distributed_fft/row_and_column.hpp"
#include "distributed_fft/transform_way.hpp"
#include "fft/line_library.hpp"
#include "fft/pencils.hpp"
#include "fft/stage.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::distributed_fft {

enum class GridKind : std::uint8_t { complex, real };

// The decomposition of the spectrum of a grid that these pencils divide: for complex grids the same.
fft::RankPencils spectrum_of(const fft::RankPencils& grid, GridKind kind);

class DistributedFft {
 public:
  // `pencils`: of the grid. Collective. `runtime` outlives it. Errors: those of the library, the exchanges and the
  // memory.
  static Result<std::unique_ptr<DistributedFft>> make(const fft::RankPencils& pencils, GridKind kind,
                                                      std::int64_t bands, const TransformWay& way,
                                                      fft::LineLibrary& library, application::Runtime& runtime);
  ~DistributedFft();

  // Collective. `in` is not written, and may not overlap `out`. After an error there is no other transform.
  // The grid: complex numbers, or reals for GridKind::real.
  Status forward(const void* grid, fft::Complex* spectrum);
  Status backward(const fft::Complex* spectrum, void* grid);

  double flops() const;         // of this rank, of one transform of all bands
  double bytes_sent() const;    // of this rank to others, by messages, of one transform of all bands
  double bytes_counted() const; // the same by all transforms so far, as the engine counted its messages
  int exchanges() const;        // that a point goes through in one transform
  application::KernelTimes& times() { return times_; }
  TransformProfile& profile() { return profile_; } // of a way that profiles

 private:
  class Pipeline;
  explicit DistributedFft(RowAndColumn groups);
  RowAndColumn groups_; // of both pipelines
  std::unique_ptr<Pipeline> forward_, backward_;
  application::KernelTimes times_;
  TransformProfile profile_;
};

// The exchanges of a forward transform between these pencils of the spectrum, of which `groups` are. Those of rank
// `rank`.
std::vector<PlannedExchange> planned_exchanges(const fft::RankPencils& spectrum, const RowAndColumn& groups,
                                               std::int32_t rank, const TransformWay& way);
// Bytes of a rank that a transform needs beside its input and output.
double bytes_needed(const fft::RankPencils& pencils, GridKind kind, std::int32_t rank, std::int64_t bands,
                    const TransformWay& way);

} // namespace kumihimo::distributed_fft
