// A rank's part of the grid, its exchange of ghosts, and sweeps over it.
#pragma once

#include "application/kernel_times.hpp"
#include "application/runtime.hpp"
#include "base/state_list.hpp"
#include "stencil/himeno/grid.hpp"
#include "stencil/himeno/variants.hpp"
#include "stencil/himeno/wavefront.hpp"

#include <memory>
#include <vector>

namespace kumihimo::himeno {

class LocalGrid {
 public:
  // Collective. Errors: a grid of ranks that does not fit; memory; a wavefront of more levels than a rank has cells
  // along an axis; a variant for one rank on several; those of the accelerator while the grid is copied to it.
  static Result<std::unique_ptr<LocalGrid>> make(const Triple& points, bool varied, const HimenoVariant& variant,
                                                 const ParameterValues& parameters, application::Runtime& runtime);

  // All sweeps. Returns gosa of each over all ranks. Collective.
  Result<std::vector<double>> run(std::int64_t sweeps);
  // After them, of a variant on an accelerator: copies p to grid(). Error: the device's.
  Status download();

  // The pressure of the rank's cells: all that a sweep depends on. Of an accelerator after download(), and before
  // take_state(), which copies it there. Error: the device's.
  void list_state(StateList& list);
  Status take_state();

  const HimenoGrid& grid() const { return grid_; }
  const application::RankGrid& ranks() const { return ranks_; }
  const application::KernelTimes& times() const { return times_; }

 private:
  LocalGrid(const HimenoVariant& variant, application::Runtime& runtime) : variant_(variant), runtime_(runtime) {}
  void declare_kernels();
  Status sweep(double* gosa);            // one, beside the exchange
  Status pass(int levels, double* gosa); // of a wavefront
  void sweep_timed(const HimenoBox& box);
  std::vector<HimenoBox> outer_boxes(const HimenoBox& inner) const;
  HimenoBox inner_box() const;

  const HimenoVariant& variant_;
  application::Runtime& runtime_;
  application::RankGrid ranks_;
  HimenoGrid grid_;
  std::unique_ptr<DeviceGrid> device_; // of grid_
  Wavefront wavefront_;
  std::unique_ptr<application::BoxHalo> halo_;
  application::KernelTimes times_;
  std::size_t sweep_row_ = 0, ghosts_row_ = 0, copy_row_ = 0, upload_row_ = 0, download_row_ = 0;
  std::vector<double> gosa_; // of rows of cells, of each level
};

} // namespace kumihimo::himeno
