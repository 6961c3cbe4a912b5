// Products y = A x of the owned rows, whose columns may be ghosts: bring the ghosts of x up to date before. x: 3 of
// each node, ghosts too; y: 3 of each owned node. Threads share the rows; a row has one order of sums.
#pragma once

#include "fem/constraints.hpp"
#include "fem/materials.hpp"
#include "fem/matrix.hpp"
#include "fem/mesh.hpp"
#include "fem/variants.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::fem {

// By an assembled matrix, three rows of a block in one vector each.
void multiply(const BlockMatrix& matrix, const double* x, double* y);
// The golden copy: plain loops.
void multiply_golden(const BlockMatrix& matrix, const double* x, double* y);

// Bytes that a product moves at least: blocks, their columns, rows, x and y once each.
double product_bytes(const BlockMatrix& matrix);

// By integration, without a matrix; displacements may be prescribed. Holds references to `mesh` and `materials`.
class MatrixFreeProduct {
 public:
  // `diagonal`: 3 of each owned node, as eliminate() leaves them for prescribed displacements; others are not read.
  // Error: there is not enough memory.
  static Result<MatrixFreeProduct> make(const OperatorVariant& variant, const Mesh& mesh, const Materials& materials,
                                        const Constraints& constraints, std::vector<double> diagonal);
  // Error: there is not enough memory.
  Status multiply(const double* x, double* y);

 private:
  const OperatorVariant* variant_ = nullptr;
  const Mesh* mesh_ = nullptr;
  const Materials* materials_ = nullptr;
  std::vector<std::int32_t> fixed_; // displacements, ascending
  std::vector<double> diagonal_;
  threads::ThreadedArray<double> x_, y_; // with prescribed displacements zero; with the rows of ghosts
};

// The blocks on the diagonal of A, without the matrix: 9 of each owned node.
std::vector<double> diagonal_blocks(const Mesh& mesh, const Materials& materials);
std::vector<double> diagonal_blocks(const BlockMatrix& matrix);

} // namespace kumihimo::fem
