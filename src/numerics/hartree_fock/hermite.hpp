// Products of two primitive Gaussians in Hermite Gaussians, and Coulomb integrals of those: what the golden copy and
// the one-electron integrals are made of. Equations of T. Helgaker, P. Jorgensen, J. Olsen, Molecular
// Electronic-Structure Theory, 2000, chapter 9.
#pragma once

#include "hartree_fock/molecule.hpp"

namespace kumihimo::hartree_fock {

// Of exp(-a r_A^2) and exp(-b r_B^2), with powers up to 1 on the first and 3 on the second (derivatives and moments of
// p need two more).
struct HermitePair {
  double exponent; // p = a + b
  Point center;    // P = (a A + b B) / p
  // E^ij_t along each axis, equations 9.5.6 and 9.5.7: e[axis][i][j][t]
  double e[3][2][4][5];

  HermitePair(double a, const Point& at_a, double b, const Point& at_b);
};

// R_tuv(alpha, R_PQ), t + u + v <= order, equations 9.9.13 and 9.9.18 to 9.9.20.
struct HermiteCoulomb {
  static constexpr int most = 4;
  double at[most + 1][most + 1][most + 1]; // not set above the order

  HermiteCoulomb(double alpha, const Point& p, const Point& q, int order);
};

} // namespace kumihimo::hartree_fock
