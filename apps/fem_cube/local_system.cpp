#include "fem_cube/local_system.hpp"

namespace kumihimo::fem_cube {

FemSystem::FemSystem(const FemProblem& problem, std::unique_ptr<Discrete> discrete,
                     std::unique_ptr<Preconditioner> preconditioner)
    : problem_(problem), discrete_(std::move(discrete)), preconditioner_(std::move(preconditioner)),
      product_(times_.declare("product", discrete_->work_of_product())),
      preconditioning_(times_.declare("preconditioner", preconditioner_->work)),
      halo_(times_.declare("halo exchange", {})) {}

Status FemSystem::multiply(double* x, double* y) {
  if (Status s = times_.timed(halo_, [&] { return problem_.halo->run(x); }); !s) return s;
  return times_.timed(product_, [&] { return discrete_->multiply(x, y); });
}

Status FemSystem::precondition(const double* r, double* z) {
  return times_.timed(preconditioning_, [&] {
    preconditioner_->apply(r, z);
    return Status(Nothing{});
  });
}

} // namespace kumihimo::fem_cube
