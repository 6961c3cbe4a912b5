// Algebraic multigrid as a preconditioner: one V cycle of smoothed aggregation with SPAI-0 smoothing, by AMGCL (D.
// Demidov, Lobachevskii J. Math. 40, 2019). It needs far fewer iterations than an incomplete factorisation and more
// memory and set-up. Threads are OpenMP's; results do not depend on their number.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace kumihimo::amg {

// Whether the build found AMGCL's headers. Without them make() says what to install.
bool is_available();

// A square matrix in compressed rows, symmetric positive definite, as a rank has it: columns are local.
struct CompressedRows {
  std::span<const std::int64_t> begins; // rows + 1
  std::span<const std::int32_t> columns;
  std::span<const double> values;
  std::int64_t count() const { return static_cast<std::int64_t>(begins.size()) - 1; }
};

class SmoothedAggregation {
 public:
  virtual ~SmoothedAggregation() = default;
  // Errors: no AMGCL in this build; not enough memory; AMGCL refuses the matrix. Copies the matrix. Not caught: AMGCL
  // allocates in parallel regions too, which no exception can leave; lack of memory there ends the program.
  static Result<std::unique_ptr<SmoothedAggregation>> make(const CompressedRows& matrix);
  // z = M^-1 r, both of all rows.
  virtual void apply(const double* r, double* z) const = 0;
  virtual std::int64_t bytes() const = 0; // read by one apply(), estimated from the sizes of the levels
};

} // namespace kumihimo::amg
