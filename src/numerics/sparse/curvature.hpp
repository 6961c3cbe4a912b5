// Whether conjugate gradients may divide by the curvature p.Ap of a search direction p, and why not.
#pragma once

#include "base/result.hpp"

namespace kumihimo::sparse {

// A pivot of at most this many roundings of its diagonal entry, or a Rayleigh quotient of at most as many of the
// largest one, holds no correct digit: each entry of a row may add a rounding, and hands on those of its own pivot.
inline constexpr double roundings_of_a_zero = 64;

class Curvature {
 public:
  // After p = M^-1 r + beta p, with rho = r.M^-1 r; `residual`: |r| / |b|. p.Ap / p.Mp is a Rayleigh quotient of the
  // preconditioned matrix; p.Mp follows from p.Mp = rho + beta^2 p.Mp, since r is orthogonal to the last p. Error: the
  // curvature is not finite; it underflows (the tolerance is out of reach); it is rounding beside the largest quotient
  // (the matrix is singular or nearly so); or it is negative.
  Status check(double curvature, double rho, double beta, double residual, double tolerance);

 private:
  double square_ = 0, largest_ = 0; // p.Mp; the largest quotient
};

} // namespace kumihimo::sparse
