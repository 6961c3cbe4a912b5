#include "hartree_fock/hermite.hpp"

#include "hartree_fock/boys.hpp"

#include <cmath>

namespace kumihimo::hartree_fock {

HermitePair::HermitePair(double a, const Point& at_a, double b, const Point& at_b) : exponent(a + b), e{} {
  for (int k = 0; k < 3; ++k) {
    center[k] = (a * at_a[k] + b * at_b[k]) / exponent;
    const double ab = at_a[k] - at_b[k], pa = center[k] - at_a[k], pb = center[k] - at_b[k];
    auto& of = e[k];
    const auto raise = [this](const double(&from)[5], double shift, double(&to)[5]) {
      for (int t = 0; t < 5; ++t)
        to[t] = (t > 0 ? from[t - 1] / (2 * exponent) : 0) + shift * from[t] + (t < 4 ? (t + 1) * from[t + 1] : 0);
    };
    of[0][0][0] = std::exp(-a * b / exponent * ab * ab);
    raise(of[0][0], pa, of[1][0]);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) raise(of[i][j], pb, of[i][j + 1]);
  }
}

HermiteCoulomb::HermiteCoulomb(double alpha, const Point& p, const Point& q, int order) {
  const double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
  double f[most + 1];
  boys(alpha * (x * x + y * y + z * z), order, f);
  double r[most + 1][most + 1][most + 1][most + 1]; // R^n_tuv at [n][t][u][v], of t + u + v + n <= order alone
  double power = 1;
  for (int n = 0; n <= order; ++n, power *= -2 * alpha) r[n][0][0][0] = power * f[n];
  for (int sum = 1; sum <= order; ++sum)
    for (int n = 0; n <= order - sum; ++n)
      for (int t = 0; t <= sum; ++t)
        for (int u = 0; u <= sum - t; ++u) {
          const int v = sum - t - u;
          const auto& above = r[n + 1];
          r[n][t][u][v] = t > 0   ? x * above[t - 1][u][v] + (t > 1 ? (t - 1) * above[t - 2][u][v] : 0)
                          : u > 0 ? y * above[t][u - 1][v] + (u > 1 ? (u - 1) * above[t][u - 2][v] : 0)
                                  : z * above[t][u][v - 1] + (v > 1 ? (v - 1) * above[t][u][v - 2] : 0);
        }
  for (int t = 0; t <= order; ++t)
    for (int u = 0; u <= order - t; ++u)
      for (int v = 0; v <= order - t - u; ++v) at[t][u][v] = r[0][t][u][v];
}

} // namespace kumihimo::hartree_fock
