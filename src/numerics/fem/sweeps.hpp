// Symmetric Gauss-Seidel sweeps over some nodes of a matrix in a given order:
//   (D + U)^-1 D (D + L)^-1 r
// with 3 x 3 blocks D on the diagonal, L of earlier and U of later nodes. Blocks are copied in the order of the sweep,
// lower and upper apart, so a sweep reads its memory from the beginning to the end and each block once.
#pragma once

#include "fem/matrix.hpp"
#include "fem/order.hpp"
#include "threads/array.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::fem {

// The inverse of a symmetric positive definite 3 x 3 block. False: it is not positive definite.
bool invert_block(const double* block, double* inverse);

class Sweeps {
 public:
  // Couplings with nodes that are not in `nodes` are left out. Errors: a block on the diagonal is not positive
  // definite; there is not enough memory.
  static Result<Sweeps> make(const BlockMatrix& matrix, const std::vector<std::int32_t>& nodes, RowNumbers& work);
  static Result<Sweeps> make(const BlockMatrix& matrix, const std::vector<std::int32_t>& nodes);

  std::int64_t size() const { return static_cast<std::int64_t>(nodes_.size()); }
  const std::vector<std::int32_t>& nodes() const { return nodes_; }
  // Positions [begin, end), ascending: work = (D + L)^-1 r. r by node, work by position; 3 numbers each.
  void forward(std::int64_t begin, std::int64_t end, const double* r, double* work) const;
  // The same, descending: work = work - D^-1 U work.
  void backward(std::int64_t begin, std::int64_t end, double* work) const;
  // Bytes that both sweeps move at least, and their operations.
  double bytes() const;
  double flops() const;

 private:
  struct Triangle {
    threads::ThreadedArray<std::int32_t> begin, columns; // columns are positions
    threads::ThreadedArray<double> values;
  };
  static Result<Triangle> triangle(const BlockMatrix& matrix, const std::vector<std::int32_t>& nodes,
                                   RowNumbers& position, bool lower);
  std::vector<std::int32_t> nodes_;
  Triangle lower_, upper_;
  threads::ThreadedArray<double> inverse_diagonal_;
};

} // namespace kumihimo::fem
