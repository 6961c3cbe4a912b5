// The variants of the Himeno sweep.
#pragma once

#include "base/parameter.hpp"
#include "himeno/grid.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace kumihimo::himeno {

// One sweep: sweep() computes `next` in parts of the cells, each cell once, and adds to gosa the squared residuals of
// each row; finish() makes `next` to p.
struct Variant {
  VariantDescription description;
  void (*sweep)(const Grid& grid, const Box& box, double* gosa) = nullptr;
  void (*finish)(Grid& grid) = nullptr;
};

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

} // namespace kumihimo::himeno
