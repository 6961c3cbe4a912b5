#include "hartree_fock/boys.hpp"

#include <cmath>
#include <numbers>

namespace kumihimo::hartree_fock {
namespace {

// Here the terms of the series, all positive, are about 150 at most. Above, the upward recursion loses less than a
// digit for m up to 8: exp(-x) is far below (2m + 1) F_m.
constexpr double series_below = 36;

// F_m(x) = exp(-x) sum_i (2x)^i / ((2m+1)(2m+3)...(2m+2i+1)), equation 9.8.11
double series(double x, int m) {
  double term = 1.0 / (2 * m + 1), sum = term;
  for (int i = 1; term > 1e-17 * sum; ++i) {
    term *= 2 * x / (2 * m + 2 * i + 1);
    sum += term;
  }
  return std::exp(-x) * sum;
}

} // namespace

void boys(double x, int highest, double* values) {
  if (x < series_below) {
    values[highest] = series(x, highest);
    const double decay = std::exp(-x);
    for (int m = highest; m-- > 0;) values[m] = (2 * x * values[m + 1] + decay) / (2 * m + 1);
    return;
  }
  const double decay = std::exp(-x);
  values[0] = 0.5 * std::sqrt(std::numbers::pi / x) * std::erf(std::sqrt(x));
  for (int m = 0; m < highest; ++m) values[m + 1] = ((2 * m + 1) * values[m] - decay) / (2 * x);
}

} // namespace kumihimo::hartree_fock
