#include "krylov/ritz.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kumihimo::krylov {
namespace {

struct Tridiagonal {
  std::vector<double> diagonal, square; // squares of the off-diagonal; square[0] = 0
};

// Eigenvalues below `value`, by Sturm's sequence.
int below(const Tridiagonal& t, double value) {
  int count = 0;
  double d = 1;
  for (std::size_t i = 0; i < t.diagonal.size(); ++i) {
    d = t.diagonal[i] - value - (i > 0 ? t.square[i] / d : 0);
    if (d == 0) d = 1e-300;
    count += d < 0;
  }
  return count;
}

double eigenvalue(const Tridiagonal& t, int index, double low, double high) {
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (below(t, middle) > index ? high : low) = middle;
  }
  return (low + high) / 2;
}

} // namespace

RitzValues ritz_values(std::span<const double> alpha, std::span<const double> beta) {
  Tridiagonal t;
  double high = 0;
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    t.diagonal.push_back(1 / alpha[k] + (k > 0 ? beta[k - 1] / alpha[k - 1] : 0));
    t.square.push_back(k > 0 ? beta[k - 1] / (alpha[k - 1] * alpha[k - 1]) : 0);
    high += t.diagonal.back(); // positive definite: the trace is above every eigenvalue
  }
  const int last = static_cast<int>(alpha.size()) - 1;
  return {eigenvalue(t, 0, 0, high), eigenvalue(t, last, 0, high)};
}

} // namespace kumihimo::krylov
