// The golden copy beside that of the assembly (fem/golden.hpp): preconditioners and the product element by element, in
// plain loops. Variants are compared with it, and every solution is checked by its product.
#pragma once

#include "fem/materials.hpp"
#include "fem/matrix.hpp"
#include "fem/mesh.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::fem_cube::golden {

// z = M^-1 r by the 3 x 3 blocks on the diagonal.
class GoldenBlockDiagonal {
 public:
  // Error: a block is not positive definite.
  static Result<GoldenBlockDiagonal> make(std::span<const double> blocks);
  void apply(const double* r, double* z) const;
  const double* inverse(std::int64_t node) const { return inverses_.data() + 9 * node; }

 private:
  std::vector<double> inverses_;
};

// Additive Schwarz: parts of consecutive nodes with `overlap` layers around them, each with symmetric Gauss-Seidel
// (D + U)^-1 D (D + L)^-1 in the natural order. One part: Gauss-Seidel of the rank's nodes.
class Schwarz {
 public:
  // Refers to `matrix`. Errors: parts is not 1 to the number of owned nodes; a block is not positive definite.
  static Result<Schwarz> make(const fem::BlockMatrix& matrix, std::int64_t parts, int overlap);
  void apply(const double* r, double* z) const;

 private:
  const fem::BlockMatrix* matrix_ = nullptr;
  GoldenBlockDiagonal diagonal_;
  std::vector<std::vector<std::int32_t>> parts_; // nodes, ascending
};

// Adds A x over these elements to y, by their golden stiffness, without prescribed displacements and without a matrix.
// x: 3 of each node, ghosts too; y: 3 of each owned node.
void add_product(const fem::Mesh& mesh, const fem::Materials& materials, std::span<const std::int32_t> elements,
                 const double* x, double* y);

// Adds what y may be off by rounding, and the product of any variant with it. Within an element, x is a translation,
// that of its first corner, and a deformation. Five times the bound of each (fem/error_bound.hpp) times its size covers
// the difference of both matrices once, and both sums of 81 products: it is at least 4330 u |entry| |x|, as kappa is at
// least 3, and the sums cost at most 2 x 85 u |entry| |x|.
void add_rounding(const fem::Mesh& mesh, const fem::Materials& materials, std::span<const std::int32_t> elements,
                  const double* x, double* y);

} // namespace kumihimo::fem_cube::golden
