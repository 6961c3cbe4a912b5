// The loops of each set of instructions as function pointers.
#pragma once

#include "fem/element_task.hpp"

#include <cstdint>

namespace kumihimo::fem {

struct Addresses {
  std::int32_t of[8][8]; // block of a pair of corners
};

struct LaneLoops {
  int lanes;
  // Adds elements [begin, end) of task.elements, of one colour, to the matrix, `block` at a time. `stiffness` has 324
  // numbers for each element of a block, rounded up to the lanes; `addresses` one for each.
  void (*assemble)(const ElementTask& task, std::int64_t begin, std::int64_t end, std::int64_t block, double* stiffness,
                   Addresses* addresses);
  // y += A x over these elements.
  void (*multiply)(const ElementTask& task, std::int64_t begin, std::int64_t end, const double* x, double* y);
};

extern const LaneLoops loops_baseline;
#if defined(__x86_64__)
extern const LaneLoops loops_avx2, loops_avx512;
#endif

} // namespace kumihimo::fem
