// Sparse matrix of 3 x 3 blocks in compressed rows (BCRS): one block row a node, columns ascending, blocks by rows.
#pragma once

#include "base/result.hpp"
#include "fem/mesh.hpp"
#include "threads/array.hpp"

#include <cstdint>

namespace kumihimo::fem {

struct BlockMatrix {
  std::int64_t owned = 0; // complete rows; those of ghosts follow, with this process's elements only
  threads::ThreadedArray<std::int32_t> row_begin; // of each node, and the end
  threads::ThreadedArray<std::int32_t> columns;
  // 9 of each block, and 3 more: vector loads of a block's last row may read beyond it.
  threads::ThreadedArray<double> values;

  std::int64_t rows() const { return row_begin.size() - 1; }
  std::int64_t blocks() const { return columns.size(); }
  double* block(std::int64_t at) { return values.data() + 9 * at; }
  const double* block(std::int64_t at) const { return values.data() + 9 * at; }
  // Address of block (row, column), -1 if there is none. Scans the row.
  std::int64_t find(std::int32_t row, std::int32_t column) const {
    for (std::int32_t at = row_begin[row]; at < row_begin[row + 1]; ++at)
      if (columns[at] == column) return at;
    return -1;
  }
};

// The structure: a block for each two nodes that share an element; values are zero. Error: there is not enough memory.
Result<BlockMatrix> make_matrix(const Mesh& mesh);

void set_zero(BlockMatrix& matrix);

} // namespace kumihimo::fem
