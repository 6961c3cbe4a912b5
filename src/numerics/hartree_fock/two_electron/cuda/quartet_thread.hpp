// The integrals of one quartet of shells by one thread of a GPU: the same sums as those of simd/quartet_lanes.hpp.
#pragma once

#include "hartree_fock/two_electron/boys_table.hpp"
#include "hartree_fock/two_electron/cuda/portable.hpp"
#include "hartree_fock/two_electron/products.hpp"

#include <cmath>

namespace kumihimo::hartree_fock::two_electron::cuda {

// f[m] = F_m(x), m = 0 .. M (boys_table.hpp).
template <int M>
ON_BOTH inline void boys_thread(double x, const BoysTable& table, double (&f)[M + 1]) {
  if (x >= boys_end) {
    const double half_inverse = 0.5 / x;
    f[0] = 0.88622692545275801 * sqrt(2 * half_inverse);
    UNROLLED
    for (int m = 1; m <= M; ++m) f[m] = (2 * m - 1) * half_inverse * f[m - 1];
    return;
  }
  const int interval = static_cast<int>(0.5 * x);
  const double u = x - (2 * interval + 1);
  double sum = table.of[M][boys_powers - 1][interval];
  for (int k = boys_powers - 2; k >= 0; --k) sum = sum * u + table.of[M][k][interval];
  f[M] = sum;
  const double exponential = M > 0 ? exp(-x) : 0;
  UNROLLED
  for (int m = M; m > 0; --m) f[m - 1] = (2 * x * f[m] + exponential) / (2 * m - 1);
}

// values[h] = factor R_h, by the recursion of simd/hermite_lanes.hpp: order by order, in place for all m.
template <int Order>
ON_BOTH inline void hermite_thread(const double (&r)[3], double rho, double factor, const BoysTable& table,
                                   double (&values)[hermite_count(Order)]) {
  constexpr int count = hermite_count(Order);
  constexpr auto powers = hermites; // device code sees its own copies of tables
  double f[Order + 1];
  boys_thread<Order>(rho * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), table, f);
  double scale = factor;
  UNROLLED
  for (int m = 0; m <= Order; ++m) {
    f[m] *= scale;
    scale *= -2 * rho;
  }
  // R^m from R^(m+1), beginning with the highest m: of R^m orders up to Order - m.
  UNROLLED
  for (int h = 0; h < count; ++h) values[h] = 0;
  values[0] = f[Order];
  UNROLLED
  for (int m = Order - 1; m >= 0; --m) {
    // From high orders down: lower ones are still those of m + 1.
    UNROLLED
    for (int h = hermite_count(Order - m) - 1; h > 0; --h) {
      const int t = powers[h].of[0], u = powers[h].of[1], v = powers[h].of[2];
      const int axis = t == 1 ? 0 : u == 1 ? 1 : v == 1 ? 2 : t > 0 ? 0 : u > 0 ? 1 : 2; // one of power 1, if any
      const int lower[3] = {t - (axis == 0), u - (axis == 1), v - (axis == 2)};
      double value = r[axis] * values[hermite_index(lower[0], lower[1], lower[2])];
      if (lower[axis] > 0)
        value +=
            lower[axis] * values[hermite_index(lower[0] - (axis == 0), lower[1] - (axis == 1), lower[2] - (axis == 2))];
      values[h] = value;
    }
    values[0] = f[m];
  }
}

// Products of primitives of a pair, as Products has them for kets: with the sign (-1)^|s|.
struct PairNumbers {
  const double* numbers;
  const double* bounds;
  int count;
};

// integrals[i * stride] = (ab|cd), i = ab * functions of the ket + cd. `half`: hermite functions of the bra times
// functions of the ket numbers, `half_stride` apart: registers that spill, or shared memory. Returns the number of
// quartets of primitives.
template <int Bra, int Ket, class To>
ON_BOTH inline int quartet_thread(const PairNumbers& bra, const PairNumbers& ket, double cutoff, const BoysTable& table,
                                  double* half, int half_stride, To&& integral) {
  constexpr int order = pair_kinds[Bra].order() + pair_kinds[Ket].order();
  constexpr int ket_functions = pair_kinds[Ket].functions();
  constexpr int bra_hermites = hermite_count(pair_kinds[Bra].order());
  constexpr Terms bra_terms = kind_terms[Bra], ket_terms = kind_terms[Ket];
  constexpr auto powers = hermites;
  constexpr auto sums = sum_of;
  for (int i = 0; i < pair_kinds[Bra].functions() * ket_functions; ++i) integral(i) = 0;
  int primitives = 0;
  for (int i = 0; i < bra.count; ++i) {
    const double* const p = bra.numbers + i * (4 + bra_terms.count);
    for (int h = 0; h < bra_hermites * ket_functions; ++h) half[h * half_stride] = 0;
    int k = 0;
    for (; k < ket.count && bra.bounds[i] * ket.bounds[k] >= cutoff; ++k) {
      const double* const q = ket.numbers + k * (4 + ket_terms.count);
      const double r[3] = {p[1] - q[1], p[2] - q[2], p[3] - q[3]};
      double hermite[hermite_count(order)];
      hermite_thread<order>(r, p[0] * q[0] / (p[0] + q[0]), 1 / sqrt(p[0] + q[0]), table, hermite);
      UNROLLED
      for (int t = 0; t < bra_hermites; ++t) {
        UNROLLED
        for (int s = 0; s < ket_terms.count; ++s)
          half[(t * ket_functions + ket_terms.of[s].function) * half_stride] +=
              q[4 + s] * hermite[sums[t][ket_terms.of[s].hermite]];
      }
    }
    if (k == 0) break;
    primitives += k;
    UNROLLED
    for (int t = 0; t < bra_terms.count; ++t) {
      const int h = bra_terms.of[t].hermite;
      const double e = powers[h].order() % 2 == 0 ? p[4 + t] : -p[4 + t]; // a bra has no sign
      UNROLLED
      for (int f = 0; f < ket_functions; ++f)
        integral(bra_terms.of[t].function * ket_functions + f) += e * half[(h * ket_functions + f) * half_stride];
    }
  }
  return primitives;
}

} // namespace kumihimo::hartree_fock::two_electron::cuda
