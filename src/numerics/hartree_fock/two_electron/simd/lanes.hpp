// The functions of vectors of W doubles that integrals need. For files of simd/ only (base/lanes.hpp).
#pragma once

#include "base/lanes.hpp"
#include "hartree_fock/two_electron/boys_table.hpp"

#include <cmath>
#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kumihimo::hartree_fock::two_electron {
namespace {

// Adding it rounds a small number to an integer, which then stands in the low bits.
constexpr double rounder = 6755399441055744.0; // 2^52 + 2^51

template <int W>
KUMIHIMO_INLINE Lanes<double, W> inverse_root(const Lanes<double, W>& x) {
#if defined(__AVX512F__)
  if constexpr (W == 8) { // 14 bits, doubled twice by Newton's method
    Lanes<double, 8> y = (Lanes<double, 8>)_mm512_maskz_rsqrt14_pd(0xff, (__m512d)x);
    const Lanes<double, 8> half = 0.5 * x;
    y = y * (1.5 - half * y * y);
    return y + y * (0.5 - half * y * y);
  }
#endif
  Lanes<double, W> root;
  for (int lane = 0; lane < W; ++lane) root[lane] = __builtin_sqrt(x[lane]);
  return 1.0 / root;
}

// entries[interval] for each lane.
template <int W>
KUMIHIMO_INLINE Lanes<double, W> look_up(const double* entries, const Lanes<std::int64_t, W>& interval) {
#if defined(__AVX512F__)
  if constexpr (W == 8)
    return (Lanes<double, 8>)_mm512_permutex2var_pd(_mm512_load_pd(entries), (__m512i)interval,
                                                    _mm512_load_pd(entries + 8));
#endif
  Lanes<double, W> found;
  for (int lane = 0; lane < W; ++lane) found[lane] = entries[interval[lane]];
  return found;
}

// exp(-x), 0 <= x <= boys_end: 2^n times the Taylor series of the rest, which is at most log(2)/2.
template <int W>
KUMIHIMO_INLINE Lanes<double, W> exp_minus(const Lanes<double, W>& x) {
  using V = Lanes<double, W>;
  using I = Lanes<std::int64_t, W>;
  const V shifted = rounder - x * 1.4426950408889634;
  const V n = shifted - rounder;
  const V r = -x - n * 0.69314718036912382 - n * 1.9082149292705877e-10;
  V sum = r * (1.0 / 39916800) + 1.0 / 3628800;
  constexpr double inverse_factorials[] = {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                                           1.0 / 24,     1.0 / 6,     0.5,        1.0,       1.0};
  for (const double inverse : inverse_factorials) sum = sum * r + inverse;
  return sum * (V)(((I)shifted + 1023) << 52);
}

// f[m] = F_m(x), m = 0 .. M, x >= 0: the polynomial of the highest order, downward recursion
// F_(m-1) = (2 x F_m + exp(-x)) / (2 m - 1), and for large x upward recursion without the exponential.
template <int W, int M>
KUMIHIMO_INLINE void boys_lanes(const Lanes<double, W>& x, const BoysTable& table, Lanes<double, W> (&f)[M + 1]) {
  using V = Lanes<double, W>;
  using I = Lanes<std::int64_t, W>;
  constexpr double last = 31.999999;
  const V inside = x < last ? x : V{} + last;
  const V shifted = (0.5 * inside - 0.5) + rounder;
  const I interval = (I)shifted & (boys_intervals - 1);
  const V u = inside - (2.0 * (shifted - rounder) + 1.0);
  V sum = look_up<W>(table.of[M][boys_powers - 1], interval);
  for (int k = boys_powers - 2; k >= 0; --k) sum = sum * u + look_up<W>(table.of[M][k], interval);
  f[M] = sum;
  if constexpr (M > 0) {
    const V exponential = exp_minus<W>(inside), twice = inside + inside;
    for (int m = M; m > 0; --m) f[m - 1] = (twice * f[m] + exponential) * (1.0 / (2 * m - 1));
  }
  const I beyond = x >= last;
  const V root = inverse_root<W>(x + 1e-300); // no division by zero
  V far = 0.88622692545275801 * root;         // sqrt(pi) / 2
  f[0] = beyond ? far : f[0];
  if constexpr (M > 0) {
    const V half_inverse = 0.5 * root * root;
    for (int m = 1; m <= M; ++m) {
      far *= (2 * m - 1) * half_inverse;
      f[m] = beyond ? far : f[m];
    }
  }
}

} // namespace
} // namespace kumihimo::hartree_fock::two_electron
