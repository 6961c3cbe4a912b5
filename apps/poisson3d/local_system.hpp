// The linear system that a Krylov method sees: a variant's local solver, its ghosts, and the time of each part.
#pragma once

#include "application/kernel_times.hpp"
#include "application/runtime.hpp"
#include "krylov/linear_system.hpp"
#include "poisson3d/box_matrix.hpp"
#include "poisson3d/variant.hpp"
#include "threads/array.hpp"

#include <memory>
#include <span>
#include <vector>

namespace kumihimo::poisson3d {

class PoissonSystem final : public krylov::LinearSystem {
 public:
  // Collective: makes the exchange in the variant's numbering. Errors: those of the variant, of memory and transport;
  // all ranks get the same.
  static Result<std::unique_ptr<PoissonSystem>> make(const LocalProblem& problem, const PoissonVariant& variant,
                                                     const ParameterValues& parameters,
                                                     sparse::Factorisations& factorisations,
                                                     application::Runtime& runtime);

  std::int64_t rows() const override { return problem_.matrix.rows; }
  std::int64_t length() const override { return problem_.matrix.columns; }
  // Ghosts come while the product of the rows is computed; then their entries are added.
  Status multiply(double* x, double* y) override;
  // Before and after it, messages and sums that are under way go on.
  Status precondition(const double* r, double* z) override;

  const LocalSolver& solver() const { return *solver_; }
  application::KernelTimes& times() { return times_; }

  // From the matrix's numbering to the variant's, and back.
  Result<threads::ThreadedArray<double>> renumbered(std::span<const double> natural) const;
  std::vector<double> natural(std::span<const double> renumbered) const;

 private:
  PoissonSystem(const LocalProblem& problem, std::unique_ptr<LocalSolver> solver, application::Runtime& runtime);
  const LocalProblem& problem_;
  application::Runtime& runtime_;
  std::unique_ptr<LocalSolver> solver_;
  std::unique_ptr<application::GhostExchange> exchange_;
  application::KernelTimes times_;
  std::size_t product_, preconditioner_, halo_;
};

} // namespace kumihimo::poisson3d
