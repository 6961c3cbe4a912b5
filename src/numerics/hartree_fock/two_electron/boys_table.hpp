// The Boys function for lanes: polynomials on 16 intervals, so that two vectors of eight doubles hold the coefficient
// of one power for all intervals, and a permutation of them is the table's look-up.
#pragma once

namespace kumihimo::hartree_fock::two_electron {

// F_m(x), 0 <= x < boys_end: interval i = floor(x / 2), u = x - (2 i + 1) in [-1, 1], sum_k of[m][k][i] u^k.
// Interpolated at Chebyshev nodes; error below 2e-13, since |F_m^(12)| <= 1/(2 m + 25) gives 2 (1/2)^12 / (12! 25).
// Beyond boys_end the asymptotic form F_0 = sqrt(pi / x) / 2 has an error of exp(-32) / 64.
inline constexpr int boys_intervals = 16, boys_powers = 12, boys_orders = 5;
inline constexpr double boys_end = 32;
struct BoysTable {
  alignas(64) double of[boys_orders][boys_powers][boys_intervals];
};
const BoysTable& boys_table(); // made at the first call

} // namespace kumihimo::hartree_fock::two_electron
