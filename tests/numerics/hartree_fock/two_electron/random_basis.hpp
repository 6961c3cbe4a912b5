// Random shells and densities for the tests of the two-electron part.
#pragma once

#include "hartree_fock/basis.hpp"
#include "hartree_fock/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace kumihimo::hartree_fock::two_electron {

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(generator_); }

  // Exponents from 0.1 to 200; coefficients of both signs.
  Shell shell(ShellType type, const Point& center) {
    Shell made;
    made.type = type;
    made.center = center;
    const int primitives = 1 + static_cast<int>(uniform(0, 4));
    for (int i = 0; i < primitives; ++i) {
      made.exponents.push_back(std::exp(uniform(std::log(0.1), std::log(200))));
      if (type != ShellType::p) made.s.push_back(uniform(-1, 1));
      if (type != ShellType::s) made.p.push_back(uniform(-1, 1));
    }
    return made;
  }
  // Centres within a cube of this side, some of them shared.
  Basis basis(const std::vector<ShellType>& types, double side) {
    Basis made;
    Point center{};
    for (const ShellType type : types) {
      if (made.shells.empty() || uniform(0, 1) < 0.7) center = {uniform(0, side), uniform(0, side), uniform(0, side)};
      made.shells.push_back(shell(type, center));
      made.shells.back().first = made.functions;
      made.functions += made.shells.back().functions();
    }
    return made;
  }
  Matrix density(int functions) {
    Matrix made(functions);
    for (int i = 0; i < functions; ++i)
      for (int j = 0; j <= i; ++j) made(i, j) = made(j, i) = uniform(-1, 1);
    return made;
  }

 private:
  std::mt19937 generator_;
};

inline double largest_difference(const Matrix& x, const Matrix& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i) largest = std::max(largest, std::abs(x.values[i] - y.values[i]));
  return largest;
}
inline double largest(const Matrix& x) { return largest_difference(x, Matrix(x.size)); }

} // namespace kumihimo::hartree_fock::two_electron
