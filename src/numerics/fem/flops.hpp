// Floating-point operations of an element, counted from the loops of each variant: an addition, multiplication,
// division or root is one each. They are the work of that variant, so a variant that needs fewer has a lower rate at
// the same speed; compare variants by elements per second, and a variant with the peak by its own count.
#pragma once

namespace kumihimo::fem {

// Jacobian (9 sums of 8 products), cofactors (9 of 3), determinant (5), inverse (1), gradients (24 of 6).
inline constexpr double gauss_point_flops = 9 * 16 + 9 * 3 + 5 + 1 + 24 * 6;
inline constexpr double golden_flops = 8 * (gauss_point_flops + 6.0 * 6 * 24 * 3 + 24.0 * 6 * 24 * 2) + 64 * 9;
// 64 pairs at 8 Gauss points: 3 diagonal entries of 8 operations and one sum, 6 others of 5 and one sum, each times the
// weight; then 64 blocks added.
inline constexpr double original_flops = 8 * (gauss_point_flops + 64.0 * (3 * 8 + 6 * 7)) + 64 * 9;
// The weight goes into the first factor: 3 operations a corner and Gauss point.
inline constexpr double type_a_flops = 8 * (gauss_point_flops + 8.0 * 3 + 64.0 * (3 * 8 + 6 * 6)) + 64 * 9;
// Jacobians by interpolation: 9 derivatives of 4 differences and 8 interpolations of 3. A Gauss point: cofactors,
// determinant, root, inverse, 9 scalings, 24 gradients of 5, 36 pairs of 9 products and sums. A pair: the material
// (3 of 2 and 6 of 3, trace 3, lambda + mu once). 64 blocks added.
inline constexpr double interpolation_flops = 9 * (4 + 8 * 3);
inline constexpr double simd_flops =
    interpolation_flops + 8 * (27 + 5 + 2 + 9 + 24 * 5.0 + 36 * 18) + 36 * (3 * 2 + 6 * 3 + 3 + 1) + 64 * 9;
// Interpolations of points and displacements and a transposed one (12 more sums each). A Gauss point: cofactors,
// determinant, inverse, 9 gradients of 5, factors 5, stresses 9 of 2 and 3, 9 fluxes of 5 and a sum. 24 forces added.
inline constexpr double matrix_free_flops =
    2 * interpolation_flops + 9 * (8 * 3 + 8) + 8 * (27 + 5 + 1 + 9 * 5.0 + 5 + 9 * 2 + 3 + 9 * 6) + 24;

} // namespace kumihimo::fem
