// The linear system that a Krylov method sees: displacements of a rank's nodes, their ghosts, and the time of each
// part.
#pragma once

#include "application/kernel_times.hpp"
#include "fem_cube/discrete.hpp"
#include "fem_cube/preconditioner.hpp"
#include "krylov/linear_system.hpp"

#include <memory>

namespace kumihimo::fem_cube {

class FemSystem final : public krylov::LinearSystem {
 public:
  FemSystem(const FemProblem& problem, std::unique_ptr<Discrete> discrete,
            std::unique_ptr<Preconditioner> preconditioner);

  std::int64_t rows() const override { return problem_.owned_displacements(); }
  std::int64_t length() const override { return problem_.displacements(); }
  Status multiply(double* x, double* y) override;
  Status precondition(const double* r, double* z) override;

  const std::vector<double>& load() const { return discrete_->load; }
  const Preconditioner& preconditioner() const { return *preconditioner_; }
  application::KernelTimes& times() { return times_; }

 private:
  const FemProblem& problem_;
  std::unique_ptr<Discrete> discrete_;
  std::unique_ptr<Preconditioner> preconditioner_;
  application::KernelTimes times_;
  std::size_t product_, preconditioning_, halo_;
};

} // namespace kumihimo::fem_cube
