// The variants of the Himeno sweep.
#pragma once

#include "base/parameter.hpp"
#include "stencil/himeno/grid.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::himeno {

// A grid that has been copied to an accelerator, whose memory is freed with it. The grid outlives it.
class DeviceGrid {
 public:
  virtual ~DeviceGrid() = default;
  // Sweeps, with gosa of each; waits for them. Error: the device's.
  virtual Status run(std::int64_t sweeps, double* gosa) = 0;
  // Copies p back to the grid. Error: the device's.
  virtual Status download() = 0;
};

struct HimenoVariant : VariantDescription {
  // One sweep: sweep() computes `next` in parts of the cells, each cell once, and adds to gosa the squared residuals of
  // each row; finish() makes `next` to p.
  void (*sweep)(const HimenoGrid& grid, const HimenoBox& box, double* gosa) = nullptr;
  void (*finish)(HimenoGrid& grid) = nullptr;
  // Or an accelerator for the sweeps of one rank. Errors: there is none (not applicable), or the device's.
  Result<std::unique_ptr<DeviceGrid>> (*upload)(HimenoGrid& grid) = nullptr;
  // Neither: wavefronts of several sweeps (wavefront.hpp).
  bool copies_back = false;
  bool is_written_by_hand = false;          // vectors, tiles or a device by hand, not by a line that a compiler reads
  std::vector<std::string_view> files = {}; // names in src/numerics/stencil/himeno of all that replaces golden.cpp
};

// The golden copy is the first.
std::span<const HimenoVariant> variants();
// The text of one of their files.
std::string_view source_of(std::string_view file);

#define KUMIHIMO_SWEEP(name)                                                                                           \
  namespace name {                                                                                                     \
  void sweep(const HimenoGrid& grid, const HimenoBox& box, double* gosa);                                              \
  void finish(HimenoGrid& grid);                                                                                       \
  }
KUMIHIMO_SWEEP(golden)
KUMIHIMO_SWEEP(directives)
KUMIHIMO_SWEEP(swapped)
KUMIHIMO_SWEEP(simd)
#undef KUMIHIMO_SWEEP
namespace offload {
Result<std::unique_ptr<DeviceGrid>> upload(HimenoGrid& grid);
}
namespace cuda { // an error in builds without CUDA
Result<std::unique_ptr<DeviceGrid>> upload(HimenoGrid& grid);
}

} // namespace kumihimo::himeno
