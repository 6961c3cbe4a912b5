// Sparse matrices in compressed row storage, the format in which users and makers of matrices give them.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::sparse {

// Row i has entries begin[i] .. begin[i + 1] - 1, in ascending order of columns. A matrix of one process is square.
// That of a rank has `rows` rows of its own and more columns: columns from `rows` on are ghosts, which other ranks own.
struct CrsMatrix {
  std::int32_t rows = 0, columns = 0;
  std::vector<std::int64_t> begin = {0}; // rows + 1
  std::vector<std::int32_t> column;
  std::vector<double> value;

  std::int64_t entries() const { return begin.back(); }
};

// The value at (row, column), or 0.
double entry(const CrsMatrix& matrix, std::int32_t row, std::int32_t column);

// What conjugate gradients with an incomplete factor need, as far as it is cheap to check: the arrays fit together,
// every value is finite, columns ascend, each diagonal entry is there and positive, the square part is symmetric (to
// `symmetry_bound` of the larger of the two values), and |a_ij| < sqrt(a_ii a_jj), without which the matrix is
// indefinite. Error: one sentence with row and column, counted from 1 as in files.
Status check_symmetric_positive(const CrsMatrix& matrix);
inline constexpr double symmetry_bound = 1e-12;

} // namespace kumihimo::sparse
