// The matrix of HPCG as compressed rows, in the natural order of the points: the input of every ordering, and the
// matrix of the golden copy.
#pragma once

#include "base/result.hpp"
#include "hpcg/grid.hpp"
#include "threads/array.hpp"

#include <cstdint>

namespace kumihimo::hpcg {

struct HpcgMatrix {
  HpcgGrid grid;
  threads::ThreadedArray<std::int64_t> row_begin; // rows + 1
  threads::ThreadedArray<std::int32_t> columns;   // ascending within a row
  threads::ThreadedArray<double> values;
  threads::ThreadedArray<std::int64_t> diagonal; // place of each row's diagonal in `values`

  std::int64_t rows() const { return grid.rows(); }
  std::int64_t nonzeros() const { return grid.nonzeros(); }
};

// Errors: there is not enough memory.
Result<HpcgMatrix> make_matrix(const HpcgGrid& grid);

// b = A 1, so that the solution is 1 everywhere.
void right_hand_side(const HpcgMatrix& a, double* b);

} // namespace kumihimo::hpcg
