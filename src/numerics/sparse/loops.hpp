// The loops over stored rows, compiled once per instruction set (simd/). A loop adds value * gathered[column] over each
// row of one block, in the order of the entries, and hands the sum to what finishes the row. No multiply-add is fused,
// so all instruction sets give the same bits.
#pragma once

#include "sparse/stored_rows.hpp"

#include <span>
#include <string_view>

namespace kumihimo::sparse {

// What becomes of the sum s of row i.
enum class Finish {
  product,              // out = diagonal * gathered + s
  add,                  // out += s
  forward,              // out = (in - s) * diagonal; gathered is out
  backward,             // out -= s * diagonal; gathered is out
  transformed_backward, // also = in + beta * also; out = also - s; gathered is out
  transformed_forward,  // out = in + diagonal * also - s; dot of in with (also + out); gathered is out
  residual,             // dot of diagonal * (in + s) with itself; gathered is in
};
inline constexpr int finishes = 7;

struct RowVectors {
  const double* gathered = nullptr;
  const double* diagonal = nullptr;
  const double* in = nullptr;
  double* out = nullptr;
  double* also = nullptr;
  double beta = 0;
  double* scratch = nullptr; // of this thread, as long as the longest block; column-wise loops
};

// Returns the dot product over the block's rows, or 0.
template <class Value>
using Loop = double (*)(const StoredRows<Value>& rows, std::int64_t block, threads::IndexRange of,
                        const RowVectors& vectors);

struct InstructionSet {
  std::string_view name;
  bool (*runs_here)();
  Loop<double> doubles[layouts][finishes];
  Loop<float> floats[layouts][finishes]; // null but for forward and backward
  // x += alpha t, r -= alpha (t + u); returns r.r of the range.
  double (*update)(threads::IndexRange of, double alpha, const double* t, const double* u, double* r, double* x);

  template <class Value>
  Loop<Value> loop(RowLayout layout, Finish finish) const {
    if constexpr (sizeof(Value) == 8)
      return doubles[static_cast<int>(layout)][static_cast<int>(finish)];
    else
      return floats[static_cast<int>(layout)][static_cast<int>(finish)];
  }
};

std::span<const InstructionSet* const> instruction_sets(); // those that run on this processor, the fastest first

} // namespace kumihimo::sparse
