// HPL's test of a solution.
#pragma once

#include <cfloat>
#include <cstdint>

namespace kumihimo::lu {

inline constexpr double residual_threshold = 16; // HPL's

// Infinity norms: of the residual A x - b, of A (the largest sum of magnitudes of a row), of x and b.
struct SolutionNorms {
  double residual = 0, a = 0, x = 0, b = 0;
};

// ||A x - b|| / (eps (||A|| ||x|| + ||b||) n), where eps is that of HPL: half the distance from 1 to the next number.
// HPL passes a solution below its threshold. NaN if a norm is NaN.
inline double scaled_residual(const SolutionNorms& norms, std::int64_t n) {
  const double scale = DBL_EPSILON / 2 * (norms.a * norms.x + norms.b) * static_cast<double>(n);
  return norms.residual == 0 ? 0 : norms.residual / scale;
}

} // namespace kumihimo::lu
