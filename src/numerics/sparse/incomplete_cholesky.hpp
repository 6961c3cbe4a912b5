// A matrix in a numbering, split by the order of elimination, and its incomplete Cholesky factor of level 0:
// M = (D + L) D^-1 (D + L^T), with L of the pattern of the strict lower triangle.
#pragma once

#include "sparse/memory.hpp"
#include "sparse/numbering.hpp"

#include <vector>

namespace kumihimo::sparse {

// Rows of a strict triangle, or of ghosts: entry k of row i at begin[i] + k, in ascending rank of elimination.
struct Triangle {
  UnwrittenVector<std::int64_t> begin = {0};
  UnwrittenVector<std::int32_t> column;
  UnwrittenVector<double> value;

  std::int64_t entries() const { return begin.back(); }
};

struct SplitMatrix {
  Triangle lower, upper; // upper = lower^T
  UnwrittenVector<double> diagonal;
  Triangle ghosts; // columns from the number of rows on, not renumbered

  std::int32_t rows() const { return static_cast<std::int32_t>(diagonal.size()); }
};

SplitMatrix split(const CrsMatrix& matrix, const RowNumbering& numbering);

struct Factor {
  UnwrittenVector<double> lower, upper; // at the places of the triangles' entries; empty: those of the matrix
  UnwrittenVector<double> pivot;        // D
};

// `own`        IC(0): L is computed.
// `of_matrix`  L is that of the matrix, and D is such that the diagonals of M and of the matrix are equal. One copy of
//              the off-diagonals then serves product and preconditioner. Without triangles in the graph of the matrix,
//              as with 7 points, it is IC(0); with triangles it is weaker and may break down where IC(0) does not.
enum class OffDiagonals { own, of_matrix };

// Threads share the rows of each colour. Error: a pivot is not positive, or is rounding of its diagonal entry
// (least_pivot()), with its row (of the matrix that was split).
Result<Factor> factorise(const SplitMatrix& matrix, const RowNumbering& numbering, OffDiagonals off_diagonals);

} // namespace kumihimo::sparse
