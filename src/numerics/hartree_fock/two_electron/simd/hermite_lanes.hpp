// Hermite Coulomb integrals R_tuv = (d/dx)^t (d/dy)^u (d/dz)^v F_0(rho r^2), in lanes (McMurchie and Davidson, J.
// Comput. Phys. 26 (1978) 218, equations 4.6 to 4.8):
//   R^m_000 = (-2 rho)^m F_m(rho r^2),   R^m_(t+1)uv = x R^(m+1)_tuv + t R^(m+1)_(t-1)uv,   R_tuv = R^0_tuv.
#pragma once

#include "hartree_fock/two_electron/products.hpp"
#include "hartree_fock/two_electron/simd/lanes.hpp"

#include <utility>

namespace kumihimo::hartree_fock::two_electron {
namespace {

// One application of the recursion: R^m[to] = r[axis] R^(m+1)[from] + times R^(m+1)[second].
struct RecursionStep {
  std::uint8_t m = 0, to = 0, axis = 0, from = 0, times = 0, second = 0;
};
template <int Order>
struct Recursion {
  std::array<RecursionStep, 80> steps{};
  int count = 0;
};
// By rising order of derivatives. The axis is one of power 1 if there is one, which needs no second term.
template <int Order>
constexpr Recursion<Order> make_recursion() {
  Recursion<Order> made;
  for (int order = 1; order <= Order; ++order)
    for (int h = hermite_count(order - 1); h < hermite_count(order); ++h)
      for (int m = 0; m <= Order - order; ++m) {
        const Powers& powers = hermites[h];
        int axis = -1;
        for (int a = 0; a < 3; ++a)
          if (powers.of[a] > 0 && (axis < 0 || powers.of[a] < powers.of[axis])) axis = a;
        int lower[3] = {powers.of[0], powers.of[1], powers.of[2]};
        --lower[axis];
        const int from = hermite_index(lower[0], lower[1], lower[2]), times = lower[axis];
        int second = 0;
        if (times > 0) {
          --lower[axis];
          second = hermite_index(lower[0], lower[1], lower[2]);
        }
        made.steps[made.count++] = {static_cast<std::uint8_t>(m),     static_cast<std::uint8_t>(h),
                                    static_cast<std::uint8_t>(axis),  static_cast<std::uint8_t>(from),
                                    static_cast<std::uint8_t>(times), static_cast<std::uint8_t>(second)};
      }
  return made;
}
template <int Order>
constexpr Recursion<Order> recursion = make_recursion<Order>();

template <int Order, int At, class V>
KUMIHIMO_INLINE void take_step(const V (&r)[3], V (&values)[Order + 1][hermite_count(Order)]) {
  constexpr RecursionStep step = recursion<Order>.steps[At];
  V value = r[step.axis] * values[step.m + 1][step.from];
  if constexpr (step.times == 1) value += values[step.m + 1][step.second];
  if constexpr (step.times > 1) value += static_cast<double>(step.times) * values[step.m + 1][step.second];
  values[step.m][step.to] = value;
}

// hermite[h] = factor R_h for all Hermite functions up to `Order`, at distance r and with reduced exponent rho.
template <int W, int Order>
KUMIHIMO_INLINE void hermite_integrals(const Lanes<double, W> (&r)[3], const Lanes<double, W>& rho,
                                       Lanes<double, W> factor, const BoysTable& table, Lanes<double, W>* hermite) {
  using V = Lanes<double, W>;
  V f[Order + 1];
  boys_lanes<W, Order>(rho * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), table, f);
  V values[Order + 1][hermite_count(Order)];
  const V scale = -2.0 * rho;
  for (int m = 0; m <= Order; ++m) {
    values[m][0] = factor * f[m];
    factor *= scale;
  }
  [&]<std::size_t... At>(std::index_sequence<At...>) __attribute__((always_inline)) {
    (take_step<Order, static_cast<int>(At)>(r, values), ...);
  }
  (std::make_index_sequence<recursion<Order>.count>{});
  for (int h = 0; h < hermite_count(Order); ++h) hermite[h] = values[0][h];
}

} // namespace
} // namespace kumihimo::hartree_fock::two_electron
