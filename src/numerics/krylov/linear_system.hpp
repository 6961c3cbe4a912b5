// What a Krylov method needs of a linear system A x = b with symmetric positive definite A and preconditioner M: the
// rows of this rank, the product, the preconditioner, and sums over ranks. Methods know no matrix format, no halo and
// no MPI; a system of one process needs none.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>

namespace kumihimo::krylov {

class LinearSystem {
 public:
  virtual ~LinearSystem() = default;
  virtual std::int64_t rows() const = 0;   // of this rank
  virtual std::int64_t length() const = 0; // of a vector that multiply() reads: its rows, then its ghosts
  // y = A x. First brings the ghosts of x up to date.
  virtual Status multiply(double* x, double* y) = 0;
  // z = M^-1 r. May not read or write ghosts; no communication.
  virtual Status precondition(const double* r, double* z) = 0;
};

// Sums over all ranks. The ranks add in one order, so that all get the same bits.
class Sums {
 public:
  virtual ~Sums() = default;
  virtual Status sum(std::span<double> values) = 0; // in place; blocking
  // Non-blocking: at most one is under way. `values` belongs to the sum until wait().
  virtual Status start(std::span<double> values) = 0;
  virtual Status wait() = 0;
};

// The sums of one process.
class SumsOfOne final : public Sums {
 public:
  Status sum(std::span<double>) override { return Nothing{}; }
  Status start(std::span<double>) override { return Nothing{}; }
  Status wait() override { return Nothing{}; }
};

} // namespace kumihimo::krylov
