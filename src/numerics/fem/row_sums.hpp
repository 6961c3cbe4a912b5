// The sums of a row of 3 x 3 blocks times a vector: one vector of four numbers for each of the three rows, whose last
// number is not used.
#pragma once

#include "base/lanes.hpp"

namespace kumihimo::fem {
namespace {

struct RowSums {
  using Four = Lanes<double, 4>;
  Four rows[3] = {};

  // `block`: 9 numbers, and one more that may be read. `x`: 3 numbers.
  KUMIHIMO_INLINE void add(const double* block, const double* x) {
    const Four by{x[0], x[1], x[2], 0};
    for (int a = 0; a < 3; ++a) {
      Four row;
      load_into(row, block + 3 * a);
      rows[a] += row * by;
    }
  }
  KUMIHIMO_INLINE double of(int a) const { return rows[a][0] + rows[a][1] + rows[a][2]; }
};

} // namespace
} // namespace kumihimo::fem
