// Conjugate gradients as HPCG prescribes them: the residual is that of the recurrence, and the iteration stops when its
// norm over that of the first is at most the tolerance.
#pragma once

#include "hpcg/vectors.hpp"
#include "threads/array.hpp"

#include <cstdint>

namespace kumihimo::hpcg {

struct CgSeconds {
  double total = 0, dot = 0, update = 0, product = 0, preconditioner = 0;
};

struct CgResult {
  int iterations = 0;
  double first_norm = 0, norm = 0;
  CgSeconds seconds;
  double reduction() const { return first_norm > 0 ? norm / first_norm : 0; }
};

class Cg {
 public:
  static Result<Cg> make(krylov::LinearSystem& system, krylov::Sums& sums);
  // x: on entry the first guess. tolerance 0: as many iterations as there may be. Errors: the matrix or the
  // preconditioner is not positive definite; a value is not finite.
  Result<CgResult> solve(const double* b, double* x, int most_iterations, double tolerance, bool preconditioned);

 private:
  Cg(krylov::LinearSystem& system, krylov::Sums& sums) : system_(&system), vectors_(system.rows(), sums) {}

  krylov::LinearSystem* system_;
  HpcgVectors vectors_;
  threads::ThreadedArray<double> r_, z_, p_, product_;
};

} // namespace kumihimo::hpcg
