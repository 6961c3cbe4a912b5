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

// Of an element: what the entries of the block of corners (p, q) may differ by.
using PairBounds = double[corners][corners];
void element_error_bound(const Mesh& mesh, const Materials& materials, std::int64_t element, PairBounds& bounds);

// Of each block of `structure`, the bound of its entries.
std::vector<double> assembly_error_bound(const Mesh& mesh, const Materials& materials, const Matrix& structure);

// The largest difference of an entry, as a share of its bound; NaN if an entry is NaN. At most 1: the assembly is
// right.
double share_of_bound(const Matrix& matrix, const Matrix& golden, const std::vector<double>& bound);

} // namespace kumihimo::fem
