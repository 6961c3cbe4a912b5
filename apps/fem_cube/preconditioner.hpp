// The preconditioner of a request for a discrete system: z = M^-1 r of a rank's rows, without messages. Over ranks
// Gauss-Seidel and additive Schwarz are additive Schwarz without overlap between ranks.
#pragma once

#include "application/kernel_times.hpp"
#include "base/json_member.hpp"
#include "fem_cube/discrete.hpp"
#include "fem_cube/options.hpp"

#include <memory>

namespace kumihimo::fem_cube {

class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  virtual void apply(const double* r, double* z) = 0;

  application::KernelWork work; // of one call
  JsonMember facts;
};

// Refers to the matrix of `discrete`. `golden`: by the plain loops of the golden copy. Errors: parts that do not fit; a
// block on the diagonal that is not positive definite; memory.
Result<std::unique_ptr<Preconditioner>> make_preconditioner(const FemOptions& options, const Discrete& discrete,
                                                            bool golden);

} // namespace kumihimo::fem_cube
