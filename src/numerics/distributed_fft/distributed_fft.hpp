// Transforms in three dimensions over ranks. Forward: from lines along z (fft::RankPencils::box(2, rank)) to lines
// along x (box(0, rank)); each rank has its box as a dense array, z contiguous, bands behind each other. Backward:
// back. No factor is applied: backward after forward multiplies by the number of points. Of real grids the spectrum has
// the frequencies 0 to nz / 2 along z (half_spectrum()); the others are the conjugates of these. RankPencils: I. Foster
// and P. Worley, "Parallel algorithms for the spectral transform method", SIAM J. Sci. Comput. 18 (1997), section 3.
#pragma once

#include "application/kernel_times.hpp"
#include "application/runtime.hpp"
#include "distributed_fft/transposition.hpp"
#include "fft/line_library.hpp"
#include "fft/pencils.hpp"
#include "fft/stage.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::distributed_fft {

// How a transform is computed. The last bits of the answer may differ: the library of lines chooses plans by
// measurement.
struct TransformWay {
  bool packs = false;                // loops of their own copy to and from messages, as the published codes do
  bool through_window = false;       // else by messages
  std::string exchange = "pairwise"; // an alltoall of the registry
  bool overlaps = false;             // the exchange of a block of bands goes on beside the lines of the next one
  std::int64_t bands_at_once = 1;
  std::int64_t block_bytes = 256 << 10;
};

enum class GridKind : std::uint8_t { complex, real };

// The decomposition of the spectrum of a grid that these pencils divide: for complex grids the same.
fft::RankPencils spectrum_of(const fft::RankPencils& grid, GridKind kind);

class DistributedFft {
 public:
  // `pencils`: of the grid. Collective. `runtime` outlives it. Errors: those of the library, the schedules and the
  // memory.
  static Result<std::unique_ptr<DistributedFft>> make(const fft::RankPencils& pencils, GridKind kind,
                                                      std::int64_t bands, const TransformWay& way,
                                                      fft::LineLibrary& library, application::Runtime& runtime);
  ~DistributedFft();

  // Collective. `in` is not written, and may not overlap `out`. After an error there is no other transform.
  // The grid: complex numbers, or reals for GridKind::real.
  Status forward(const void* grid, fft::Complex* spectrum);
  Status backward(const fft::Complex* spectrum, void* grid);

  double flops() const;      // of this rank, of one transform of all bands
  double bytes_sent() const; // of this rank to others, by messages, of one transform of all bands
  application::KernelTimes& times() { return times_; }

 private:
  class Pipeline;
  // Messages within the row and the column of this rank, in a grid of several of both; null: all ranks exchange.
  struct RowAndColumn {
    std::unique_ptr<application::SubCommunicator> row, column;
    static Result<RowAndColumn> make(const fft::RankPencils& pencils, const TransformWay& way,
                                     application::Runtime& runtime);
    Status poll();
  };
  DistributedFft() = default;
  RowAndColumn groups_; // of both pipelines
  std::unique_ptr<Pipeline> forward_, backward_;
  application::KernelTimes times_;
};

// Bytes of a rank that a transform needs beside its input and output.
double bytes_needed(const fft::RankPencils& pencils, GridKind kind, std::int32_t rank, std::int64_t bands,
                    const TransformWay& way);

} // namespace kumihimo::distributed_fft
