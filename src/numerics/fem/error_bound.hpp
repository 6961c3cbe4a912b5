// How far an assembled matrix may be from the golden copy by rounding alone.
//
// With u = 2^-53, J the Jacobian of an element at a Gauss point, kappa = |J| |J^-1| (Frobenius) and rho = (sum over the
// corners of |dN| |x|) / |J|, which grows as coordinates are larger than the element: J has an error of at most
// 9 u rho |J|; gradients g_p = J^-T dN_p one of (9 rho + 27) kappa u |g_p|, and the determinant one of
// 3 (9 rho + 27) kappa u. A product of two gradients, the weight and Lame's constants takes at most 12 more roundings,
// the sum over Gauss points and elements 16 more. Both matrices have such an error, so an entry of block (p, q) may
// differ by
//   2 u sum over elements and Gauss points of (5 (9 rho + 27) kappa + 28) (lambda + 3 mu) det |g_p| |g_q|.
#pragma once

#include "fem/materials.hpp"
#include "fem/matrix.hpp"
#include "fem/mesh.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::fem {

// Of an element, by corners (p, q). The error of J is the same in the gradients of all corners, whose sum stays zero,
// so it does not strain a displacement that all corners share: without rho the bound is that of A x for such an x.
using PairBounds = double[corners][corners];
struct ElementBound {
  PairBounds entries;      // what the entries of a block may differ by
  PairBounds translations; // the same for its part in a product with equal displacements of all corners
};
ElementBound element_error_bound(const Mesh& mesh, const Materials& materials, std::int64_t element);

// Of each block of `structure`, the bound of its entries.
std::vector<double> assembly_error_bound(const Mesh& mesh, const Materials& materials, const BlockMatrix& structure);

// The largest difference of an entry, as a share of its bound; NaN if an entry is NaN. At most 1: the assembly is
// right.
double share_of_bound(const BlockMatrix& matrix, const BlockMatrix& golden, const std::vector<double>& bound);

} // namespace kumihimo::fem
