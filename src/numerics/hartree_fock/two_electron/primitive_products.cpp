#include "hartree_fock/two_electron/primitive_products.hpp"

#include "hartree_fock/two_electron/kernels.hpp"
#include "hartree_fock/two_electron/products.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kumihimo::hartree_fock::two_electron {
namespace {

// R_h at r = 0 with reduced exponent rho: derivatives of the integral of exp(-rho r^2 s^2) over s from 0 to 1 are
// (-rho)^N prod (2 k)! / k! / (2 N + 1) for even powers 2 k, with N their sum of k, and 0 for odd ones.
double hermite_at_zero(const Powers& powers, double rho) {
  double value = 1;
  for (const int power : powers.of) {
    if (power % 2 != 0) return 0;
    value *= power == 4 ? 12 : power == 2 ? 2 : 1;
  }
  return value * std::pow(-rho, powers.order() / 2) / (powers.order() + 1);
}

// E_t of the product of u^i about A and u^j about B along one axis, P - A = pa, P - B = pb, h = 1 / (2 p), without the
// exponential, which all three axes have in common. i, j at most 1.
double hermite_coefficient(int i, int j, int t, double pa, double pb, double h) {
  if (i == 0 && j == 0) return 1;
  if (i == 1 && j == 1) return t == 0 ? pa * pb + h : t == 1 ? (pa + pb) * h : h * h;
  return t == 0 ? (i == 1 ? pa : pb) : h;
}

// sqrt of the largest (f|f) of the functions f of the product: both sides have the same centre and exponent.
double bound_of(const PrimitiveProduct& product, const Terms& terms, int functions) {
  const double p = product.numbers[0];
  const double* const e = product.numbers.data() + numbers_before_terms;
  double largest = 0;
  for (int f = 0; f < functions; ++f) {
    double sum = 0;
    for (int i = 0; i < terms.count; ++i)
      for (int j = 0; j < terms.count; ++j) {
        if (terms.of[i].function != f || terms.of[j].function != f) continue;
        const int h = sum_of[terms.of[i].hermite][terms.of[j].hermite];
        const double sign = hermites[terms.of[j].hermite].order() % 2 == 0 ? 1 : -1;
        sum += e[i] * e[j] * sign * hermite_at_zero(hermites[h], p / 2);
      }
    largest = std::max(largest, sum / std::sqrt(2 * p));
  }
  return std::sqrt(largest);
}

} // namespace

std::vector<PrimitiveProduct> primitive_products(const Shell& a, const Shell& b, int kind) {
  const PairKind& functions = pair_kinds[kind];
  const Terms& terms = kind_terms[kind];
  const double r = distance(a.center, b.center), pi = std::numbers::pi;
  std::vector<PrimitiveProduct> made;
  for (std::size_t i = 0; i < a.exponents.size(); ++i)
    for (std::size_t j = 0; j < b.exponents.size(); ++j) {
      const double p = a.exponents[i] + b.exponents[j], h = 0.5 / p;
      PrimitiveProduct product;
      product.numbers = {p};
      for (int axis = 0; axis < 3; ++axis)
        product.numbers.push_back((a.exponents[i] * a.center[axis] + b.exponents[j] * b.center[axis]) / p);
      const double factor =
          std::sqrt(2.0) * std::pow(pi, 1.25) / p * std::exp(-a.exponents[i] * b.exponents[j] / p * r * r);
      for (int term = 0; term < terms.count; ++term) {
        const int fa = terms.of[term].function / functions.b.count(),
                  fb = terms.of[term].function % functions.b.count();
        const int axis_a = functions.a.axis(fa), axis_b = functions.b.axis(fb);
        double e = factor * (axis_a < 0 ? a.s : a.p)[i] * (axis_b < 0 ? b.s : b.p)[j];
        for (int axis = 0; axis < 3; ++axis)
          e *= hermite_coefficient(axis_a == axis, axis_b == axis, hermites[terms.of[term].hermite].of[axis],
                                   product.numbers[1 + axis] - a.center[axis],
                                   product.numbers[1 + axis] - b.center[axis], h);
        product.numbers.push_back(e);
      }
      product.bound = bound_of(product, terms, functions.functions());
      made.push_back(std::move(product));
    }
  return made;
}

} // namespace kumihimo::hartree_fock::two_electron
