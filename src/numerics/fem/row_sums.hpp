// The sums of a row of 3 x 3 blocks times a vector: one vector of four numbers for each of the three rows, whose last
// number is not used.
#pragma once

#include <cstring>

namespace kumihimo::fem {
namespace {

struct RowSums {
  typedef double Four __attribute__((vector_size(32)));
  Four rows[3] = {};

  // `block`: 9 numbers, and one more that may be read. `x`: 3 numbers.
  inline __attribute__((always_inline)) void add(const double* block, const double* x) {
    const Four by{x[0], x[1], x[2], 0};
    for (int a = 0; a < 3; ++a) {
      Four row;
      std::memcpy(&row, block + 3 * a, sizeof row);
      rows[a] += row * by;
    }
  }
  inline __attribute__((always_inline)) double of(int a) const { return rows[a][0] + rows[a][1] + rows[a][2]; }
};

} // namespace
} // namespace kumihimo::fem
