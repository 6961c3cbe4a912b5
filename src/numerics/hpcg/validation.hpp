// The tests that make a run of HPCG valid. They are those of HPCG 3.1.
#pragma once

#include "hpcg/cg.hpp"
#include "hpcg/system.hpp"

#include <span>

namespace kumihimo::hpcg {

// Both are |x (M y) - y (M x)| / (2 (x, x) (y, y) 52 eps) for random x, y; at most 1.
struct SymmetryCheck {
  double matrix = 0, preconditioner = 0;
  bool passed() const { return matrix <= 1 && preconditioner <= 1; }
};
Result<SymmetryCheck> test_symmetry(krylov::LinearSystem& system, krylov::Sums& sums);

// With a diagonal times 10^6, and times 2, 3 .. 10 more in the first nine rows, conjugate gradients must converge to
// 1e-12 in 12 iterations without preconditioner and in 2 with it. The diagonal is restored.
struct Convergence {
  int plain = 0, preconditioned = 0; // iterations
  static constexpr int most_plain = 12, most_preconditioned = 2;
  bool passed() const { return plain <= most_plain && preconditioned <= most_preconditioned; }
};
Result<Convergence> test_convergence(System& system, krylov::Sums& sums, const double* right_hand_side);

// The reduction of the residual in each set: their mean and variance. They are the same calculation, so that a variance
// is a fault.
struct Repetition {
  double mean = 0, variance = 0;
  bool passed() const { return variance < 1e-6; }
};
Repetition test_repetition(std::span<const double> reductions);

} // namespace kumihimo::hpcg
