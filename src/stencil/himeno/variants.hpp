// The variants of the Himeno sweep.
#pragma once

#include "base/parameter.hpp"
#include "stencil/himeno/grid.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::himeno {

struct Variant : VariantDescription {
  // One sweep: sweep() computes `next` in parts of the cells, each cell once, and adds to gosa the squared residuals of
  // each row; finish() makes `next` to p.
  void (*sweep)(const Grid& grid, const Box& box, double* gosa) = nullptr;
  void (*finish)(Grid& grid) = nullptr;
  // Or all sweeps of one rank on an accelerator, with gosa of each. Error: there is none, or the device's.
  Status (*run)(Grid& grid, std::int64_t sweeps, double* gosa) = nullptr;
  // Neither: wavefronts of several sweeps (wavefront.hpp).
  bool copies_back = false;
  bool is_written_by_hand = false;          // vectors, tiles or a device by hand, not by a line that a compiler reads
  std::vector<std::string_view> files = {}; // names in src/stencil/himeno of all that replaces golden.cpp
};

// The golden copy is the first.
std::span<const Variant> variants();
// The text of one of their files.
std::string_view source_of(std::string_view file);

#define KUMIHIMO_SWEEP(name)                                                                                           \
  namespace name {                                                                                                     \
  void sweep(const Grid& grid, const Box& box, double* gosa);                                                          \
  void finish(Grid& grid);                                                                                             \
  }
KUMIHIMO_SWEEP(golden)
KUMIHIMO_SWEEP(directives)
KUMIHIMO_SWEEP(swapped)
KUMIHIMO_SWEEP(simd)
#undef KUMIHIMO_SWEEP
namespace offload {
Status run(Grid& grid, std::int64_t sweeps, double* gosa);
}
namespace cuda { // an error in builds without CUDA
Status run(Grid& grid, std::int64_t sweeps, double* gosa);
}

} // namespace kumihimo::himeno
