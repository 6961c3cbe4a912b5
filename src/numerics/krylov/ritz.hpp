// Least and greatest Ritz value: eigenvalues of the tridiagonal matrix that conjugate gradients make (Saad, Iterative
// Methods for Sparse Linear Systems, section 6.7.3), bounds from inside of those of M^-1 A.
#pragma once

#include <span>

namespace kumihimo::krylov {

struct RitzValues {
  double least = 0, greatest = 0;
};
// alpha and beta of n >= 1 iterations, in order; beta[k] leads from iteration k to k + 1, its last is not read.
RitzValues ritz_values(std::span<const double> alpha, std::span<const double> beta);

} // namespace kumihimo::krylov
