// A variant: how a rank stores its rows, numbers them, multiplies and preconditions.
#pragma once

#include "application/kernel_times.hpp"
#include "base/parameter.hpp"
#include "sparse/crs_matrix.hpp"
#include "sparse/prepared_system.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace kumihimo::poisson3d {

// The local solver of a variant. Vectors are in its own numbering of the rows; ghosts follow the rows in the order that
// the matrix has them.
class LocalSolver {
 public:
  virtual ~LocalSolver() = default;
  // The variant's number of each row of the matrix; empty: the same.
  virtual std::span<const std::int32_t> new_of_old() const { return {}; }
  // y = A x in two steps. The first one reads no ghosts of x, which are on their way meanwhile.
  virtual Status multiply_rows(const double* x, double* y) = 0;
  virtual Status add_ghosts(const double* x, double* y) = 0;
  // Reads and writes rows alone.
  virtual Status precondition(const double* r, double* z) = 0;
  // Of variants that solve a transformed system, which conjugate gradients can use on one rank; else null.
  virtual const sparse::PreparedSystem* transformed() const { return nullptr; }

  // Of one call.
  virtual application::KernelWork work_of_product() const = 0;
  virtual application::KernelWork work_of_preconditioner() const = 0;
  // Words and numbers for the user, such as the number of colours: {"colours": 40}.
  virtual nlohmann::json facts() const = 0;
  // What the set-up took less because steps of another variant served.
  virtual double kept_seconds() const { return 0; }
};

struct PoissonVariant : VariantDescription {
  // Factorises. The matrix outlives the solver; `factorisations` are of the matrix. Errors: parameters that do not fit
  // the matrix (not applicable); a pivot.
  Result<std::unique_ptr<LocalSolver>> (*make)(const PoissonVariant&, const sparse::CrsMatrix&, const ParameterValues&,
                                               sparse::Factorisations& factorisations);
  const sparse::SparseVariant* prepared = nullptr; // of the registry of src/numerics/sparse
};

// The golden copy is the first. Then come all variants of src/numerics/sparse, and multigrid.
std::span<const PoissonVariant> variants();

} // namespace kumihimo::poisson3d
