// Bands of plane waves over ranks: from coefficients in a sphere to the grid, and back. Each rank has some columns of
// the sphere, and of the grid all x and y of a part of z. Columns are transformed along z and exchanged; then each rank
// transforms its part along y, where x has columns, and along x. So messages carry the sphere's columns alone, as in
// CASTEP and Quantum ESPRESSO (P. Giannozzi et al., J. Phys.: Condens. Matter 21 (2009) 395502, section 4.2).
#pragma once

#include "application/kernel_times.hpp"
#include "application/runtime.hpp"
#include "distributed_fft/block_exchange.hpp"
#include "distributed_fft/distributed_fft.hpp"
#include "fft/line_library.hpp"
#include "fft/sphere.hpp"
#include "threads/array.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace kumihimo::distributed_fft {

class SphereFft {
 public:
  // Collective. `runtime` outlives it. Errors: a way that packs (not_applicable); those of the library, the schedules
  // and the memory.
  static Result<std::unique_ptr<SphereFft>> make(fft::Sphere sphere, std::int64_t bands, const TransformWay& way,
                                                 fft::LineLibrary& library, application::Runtime& runtime);

  std::span<const std::int32_t> own_columns() const { return dealt_[static_cast<std::size_t>(rank_)]; }
  std::int64_t own_coefficients() const { return coefficients_; } // of a band
  const fft::PointBox& own_box() const { return box_; }           // of the grid

  // Collective. `coefficients`: of own_columns() one after another, -reach first; bands behind each other. `grid`:
  // dense, bands behind each other. No factor is applied: back again multiplies by the number of points. `in` is read
  // alone.
  Status to_grid(const fft::Complex* coefficients, fft::Complex* grid);         // sum over k of c exp(+2 pi i k r / n)
  Status to_coefficients(const fft::Complex* grid, fft::Complex* coefficients); // sum over r of g exp(-2 pi i k r / n)

  // Both for blocks of at most way.bands_at_once bands, one after the other, as codes of plane waves apply a potential:
  // on_grid(grid, first band, bands) may change the points of a block between them. `grid` has one block; it stays in
  // the cache if it fits, where to_grid() writes all bands to memory first.
  using OnGrid = std::function<void(fft::Complex* grid, std::int64_t first, std::int64_t bands)>;
  Status there_and_back(const fft::Complex* coefficients, fft::Complex* grid, fft::Complex* back,
                        const OnGrid& on_grid);

  double bytes_sent() const;    // of this rank to others, by messages, of one transform of all bands
  double bytes_counted() const; // the same by all transforms so far, as the engine counted its messages
  application::KernelTimes& times() { return times_; }
  TransformProfile& profile() { return profile_; } // of a way that profiles

 private:
  // Plans for blocks of one shape, there and back.
  struct BlockPlans {
    std::unique_ptr<fft::BlockPlan> to_grid, to_coefficients;
  };
  // What one direction of some bands at once needs.
  struct BandBlock {
    std::unique_ptr<BlockExchange> to_grid, to_coefficients;
    std::int64_t bands = 1;
  };
  struct Range {
    std::int64_t first = 0, count = 0;
  };

  SphereFft(fft::Sphere sphere, std::int64_t bands, const TransformWay& way, application::Runtime& runtime);
  Status plan(fft::LineLibrary& library);
  static Result<BlockPlans> plans_of(fft::LineLibrary& library, const fft::Triple& lengths, std::size_t axis);
  Result<BandBlock> block_of(std::int64_t bands);
  BandBlock& block(std::int64_t number) {
    return has_rest_ && number + 1 == block_count_ ? rest_ : blocks_[static_cast<std::size_t>(number) % blocks_.size()];
  }

  Status expand_columns(const fft::Complex* coefficients, BandBlock& block);
  Status restrict_columns(BandBlock& block, fft::Complex* coefficients);
  Status fill_grid(BandBlock& block, fft::Complex* grid);
  // Of block `number`, each with its part of an exchange.
  Status send_columns(std::int64_t number, const fft::Complex* coefficients);
  Status cross_grid(std::int64_t number, fft::Complex* grid, const OnGrid& on_grid);
  Status receive_columns(std::int64_t number, fft::Complex* coefficients);
  Status empty_grid(const fft::Complex* grid, BandBlock& block);
  // work(n, lines) for all n < count over the threads, each with a buffer of lines; where exchanges overlap, beside
  // messages.
  template <class Work>
  Status for_each_tile(std::int64_t count, Work work);
  void run_lines(const fft::BlockPlan& plan, fft::Complex* lines);
  // Of a band.
  application::KernelWork work_on_columns() const;
  application::KernelWork work_on_planes() const;
  // A call for each band of a block.
  template <class Call>
  Status timed(std::size_t kernel, const BandBlock& block, Call call);
  TransformProfile* wanted_profile() { return way_.profiles ? &profile_ : nullptr; }

  fft::Sphere sphere_;
  std::int64_t bands_;
  TransformWay way_;
  application::Runtime& runtime_;
  std::int32_t rank_;
  std::vector<std::vector<std::int32_t>> dealt_; // columns of each rank
  std::vector<Range> parts_of_z_;                // of each rank
  std::vector<std::int64_t> first_coefficient_;  // of each own column
  struct Source {                                // of a column in a plane
    std::int32_t rank = 0;                       // that has the column
    std::int64_t place = 0;                      // among its columns
    std::int64_t y = 0;
  };
  std::vector<std::vector<Source>> planes_; // of each plane of the sphere
  fft::PointBox box_;
  std::int64_t coefficients_ = 0;
  std::int64_t columns_at_once_ = 1, rows_at_once_ = 1; // of a block
  BlockPlans columns_, last_columns_, plane_, rows_, last_rows_;
  threads::ThreadedArray<fft::Complex> half_; // planes of the sphere, between the lines along y and x
  std::int64_t plane_stride_ = 0;             // between them
  std::vector<threads::ThreadedArray<fft::Complex>> buffers_;
  std::vector<BandBlock> blocks_; // by turns
  BandBlock rest_;                // the last one, if it has fewer bands
  bool has_rest_ = false;
  std::int64_t block_count_ = 1;
  application::KernelTimes times_;
  TransformProfile profile_;
  std::atomic<std::int64_t> nanoseconds_of_lines_ = 0; // of a tile's lines alone, of all threads
  std::size_t columns_row_ = 0, planes_row_ = 0, exchange_row_ = 0;
};

// The blocks of an exchange to the grid.
BlockTable block_table(const fft::Sphere& sphere, std::int32_t ranks, std::int64_t bands);
// Bytes of a rank that a transform needs beside its input and output.
double bytes_needed(const fft::Sphere& sphere, std::int32_t ranks, std::int64_t bands, const TransformWay& way);

} // namespace kumihimo::distributed_fft
