// The matrix of HPCG as compressed rows, in the natural order of the points: the input of every ordering, and the
// matrix of the golden copy.
#pragma once

#include "base/result.hpp"
#include "hpcg/grid.hpp"
#include "threads/array.hpp"

#include <cstdint>

namespace kumihimo::hpcg {

struct Matrix {
  Grid grid;
  threads::Array<std::int64_t> row_begin; // rows + 1
  threads::Array<std::int32_t> columns;   // ascending within a row
  threads::Array<double> values;
  threads::Array<std::int64_t> diagonal; // place of each row's diagonal in `values`

  std::int64_t rows() const { return grid.rows(); }
  std::int64_t nonzeros() const { return grid.nonzeros(); }
};

// Errors: there is not enough memory.
Result<Matrix> make_matrix(const Grid& grid);

// b = A 1, so that the solution is 1 everywhere.
void right_hand_side(const Matrix& a, double* b);

} // namespace kumihimo::hpcg
