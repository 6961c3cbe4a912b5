#include "hartree_fock/one_electron.hpp"

#include "hartree_fock/hermite.hpp"
#include "hartree_fock/primitive.hpp"

#include <cmath>
#include <numbers>

namespace kumihimo::hartree_fock {
namespace {

// Fills the symmetric matrix with sums over pairs of primitives: at_pair(ab, b) is called once for a pair, b the second
// exponent, and returns the integral as a function of the powers of both.
template <class AtPair>
Matrix integrals(const Basis& basis, const AtPair& at_pair) {
  Matrix found(basis.functions);
  for (const Shell& a : basis.shells)
    for (const Shell& b : basis.shells) {
      if (b.first > a.first) break;
      for (std::size_t i = 0; i < a.exponents.size(); ++i)
        for (std::size_t j = 0; j < b.exponents.size(); ++j) {
          const HermitePair ab(a.exponents[i], a.center, b.exponents[j], b.center);
          const auto integral = at_pair(ab, b.exponents[j]);
          for (int m = 0; m < a.functions(); ++m)
            for (int n = 0; n < b.functions(); ++n) {
              const PrimitiveFunction fa = function_of(a, i, m), fb = function_of(b, j, n);
              found(a.first + m, b.first + n) += fa.coefficient * fb.coefficient * integral(fa.powers, fb.powers);
            }
        }
    }
  for (int i = 0; i < basis.functions; ++i)
    for (int j = 0; j < i; ++j) found(j, i) = found(i, j);
  return found;
}

// Integrals along one axis of x_A^i x_B^j, times the two Gaussians.
struct AxisIntegrals {
  const HermitePair& ab;
  double overlap(int axis, int i, int j) const {
    return j < 0 ? 0 : ab.e[axis][i][j][0] * std::sqrt(std::numbers::pi / ab.exponent);
  }
  double position(int axis, int i, int j) const { // from the origin
    return (ab.e[axis][i][j][1] + ab.center[axis] * ab.e[axis][i][j][0]) * std::sqrt(std::numbers::pi / ab.exponent);
  }
  double kinetic(int axis, int i, int j, double b) const { // equation 9.3.40
    return -2 * b * b * overlap(axis, i, j + 2) + b * (2 * j + 1) * overlap(axis, i, j) -
           0.5 * j * (j - 1) * overlap(axis, i, j - 2);
  }
};

} // namespace

Matrix overlap(const Basis& basis) {
  return integrals(basis, [](const HermitePair& ab, double) {
    return [axis = AxisIntegrals{ab}](const Powers& i, const Powers& j) {
      return axis.overlap(0, i[0], j[0]) * axis.overlap(1, i[1], j[1]) * axis.overlap(2, i[2], j[2]);
    };
  });
}

Matrix kinetic(const Basis& basis) {
  return integrals(basis, [](const HermitePair& ab, double b) {
    return [axis = AxisIntegrals{ab}, b](const Powers& i, const Powers& j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) {
        const int u = (k + 1) % 3, v = (k + 2) % 3;
        sum += axis.kinetic(k, i[k], j[k], b) * axis.overlap(u, i[u], j[u]) * axis.overlap(v, i[v], j[v]);
      }
      return sum;
    };
  });
}

std::array<Matrix, 3> position(const Basis& basis) {
  std::array<Matrix, 3> found;
  for (int k = 0; k < 3; ++k)
    found[k] = integrals(basis, [k](const HermitePair& ab, double) {
      return [axis = AxisIntegrals{ab}, k](const Powers& i, const Powers& j) {
        const int u = (k + 1) % 3, v = (k + 2) % 3;
        return axis.position(k, i[k], j[k]) * axis.overlap(u, i[u], j[u]) * axis.overlap(v, i[v], j[v]);
      };
    });
  return found;
}

// Equation 9.9.32: 2 pi / p sum E_tuv R_tuv(p, P - C), of all nuclei at once, as E does not depend on C.
Matrix nuclear_attraction(const Basis& basis, const Molecule& molecule) {
  return integrals(basis, [&](const HermitePair& ab, double) {
    double r[3][3][3] = {};
    for (const Atom& atom : molecule.atoms) {
      const HermiteCoulomb one(ab.exponent, ab.center, atom.position, 2);
      for (int t = 0; t <= 2; ++t)
        for (int u = 0; u <= 2 - t; ++u)
          for (int v = 0; v <= 2 - t - u; ++v) r[t][u][v] -= atom.number * one.at[t][u][v];
    }
    return [&ab, r](const Powers& i, const Powers& j) {
      double sum = 0;
      for (int t = 0; t <= i[0] + j[0]; ++t)
        for (int u = 0; u <= i[1] + j[1]; ++u)
          for (int v = 0; v <= i[2] + j[2]; ++v)
            sum += ab.e[0][i[0]][j[0]][t] * ab.e[1][i[1]][j[1]][u] * ab.e[2][i[2]][j[2]][v] * r[t][u][v];
      return 2 * std::numbers::pi / ab.exponent * sum;
    };
  });
}

} // namespace kumihimo::hartree_fock
