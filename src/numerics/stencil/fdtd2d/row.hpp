// One row of places along x, vectorised: what `simd` and `wavefront` share. The absorbing layer is computed only where
// it is.
#pragma once

#include "stencil/fdtd2d/fields.hpp"

#include <span>
#include <string_view>

namespace kumihimo::fdtd2d {

// The updates of places [begin, end) of row y.
template <class T>
struct RowKernels {
  using Update = void (*)(const Fields<T>& fields, std::int64_t y, std::int64_t begin, std::int64_t end);
  Update h = nullptr;
  Update e = nullptr;
  Update both = nullptr; // H, then Ez, in one pass over memory; Ez of a wall stays 0
};

// Of one instruction set.
struct RowSet {
  std::string_view instructions;
  RowKernels<float> of_float;
  RowKernels<double> of_double;
};
extern const RowSet rows_baseline, rows_avx2, rows_avx512;

// Those that this processor runs, the fastest last. All give the same bits.
std::span<const RowSet* const> row_sets();

template <class T>
const RowKernels<T>& rows() {
  static const RowSet& best = *row_sets().back();
  if constexpr (sizeof(T) == sizeof(float))
    return best.of_float;
  else
    return best.of_double;
}

} // namespace kumihimo::fdtd2d
