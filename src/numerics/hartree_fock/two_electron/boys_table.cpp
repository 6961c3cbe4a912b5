#include "hartree_fock/two_electron/boys_table.hpp"

#include "hartree_fock/boys.hpp"

#include <cmath>
#include <numbers>

namespace kumihimo::hartree_fock::two_electron {
namespace {

// The powers' coefficients of the polynomial through f at the Chebyshev nodes of [-1, 1]: the discrete cosine transform
// gives those of Chebyshev polynomials, the recursion T_(k+1) = 2 u T_k - T_(k-1) those of powers.
template <class F>
void interpolate(F&& f, double (&powers)[boys_powers]) {
  constexpr int n = boys_powers;
  double values[n], chebyshev[n + 1][n] = {};
  for (int j = 0; j < n; ++j) values[j] = f(std::cos(std::numbers::pi * (j + 0.5) / n));
  chebyshev[0][0] = 1;
  chebyshev[1][1] = 1;
  for (int k = 1; k + 1 < n; ++k)
    for (int i = 0; i < n; ++i) chebyshev[k + 1][i] = (i > 0 ? 2 * chebyshev[k][i - 1] : 0) - chebyshev[k - 1][i];
  for (double& power : powers) power = 0;
  for (int k = 0; k < n; ++k) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += values[j] * std::cos(std::numbers::pi * k * (j + 0.5) / n);
    for (int i = 0; i < n; ++i) powers[i] += (k == 0 ? 1.0 : 2.0) / n * sum * chebyshev[k][i];
  }
}

BoysTable make_table() {
  BoysTable table;
  for (int m = 0; m < boys_orders; ++m)
    for (int i = 0; i < boys_intervals; ++i) {
      double powers[boys_powers];
      interpolate(
          [&](double u) {
            double values[boys_orders];
            boys(2 * i + 1 + u, m, values);
            return values[m];
          },
          powers);
      for (int k = 0; k < boys_powers; ++k) table.of[m][k][i] = powers[k];
    }
  return table;
}

} // namespace

const BoysTable& boys_table() {
  static const BoysTable table = make_table();
  return table;
}

} // namespace kumihimo::hartree_fock::two_electron
