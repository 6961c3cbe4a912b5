#include "poisson3d/local_system.hpp"

#include "measure/clock.hpp"

namespace kumihimo::poisson3d {

using application::GhostExchange, application::Ghosts;

PoissonSystem::PoissonSystem(const LocalProblem& problem, std::unique_ptr<LocalSolver> solver,
                             application::Runtime& runtime)
    : problem_(problem), runtime_(runtime), solver_(std::move(solver)),
      product_(times_.declare("product", solver_->work_of_product())),
      preconditioner_(times_.declare("preconditioner", solver_->work_of_preconditioner())),
      halo_(times_.declare("halo exchange", {})) {}

Result<std::unique_ptr<PoissonSystem>> PoissonSystem::make(const LocalProblem& problem, const PoissonVariant& variant,
                                                           const ParameterValues& parameters,
                                                           sparse::Factorisations& factorisations,
                                                           application::Runtime& runtime) {
  Result<std::unique_ptr<LocalSolver>> solver = variant.make(variant, problem.matrix, parameters, factorisations);
  if (Status s = runtime.agree_on(solver); !s) return s.error();
  std::unique_ptr<PoissonSystem> made(new PoissonSystem(problem, std::move(*solver), runtime));
  Ghosts ghosts = problem.ghosts;
  if (const auto number = made->solver_->new_of_old(); !number.empty())
    for (Ghosts::Neighbour& neighbour : ghosts.neighbours)
      for (std::int32_t& row : neighbour.sent) row = number[static_cast<std::size_t>(row)];
  made->exchange_ = TRY(runtime.exchange(std::move(ghosts)));
  return made;
}

Status PoissonSystem::multiply(double* x, double* y) {
  const std::int64_t begin = measure::now_ns();
  if (Status s = exchange_->start(x); !s) return s;
  const std::int64_t started = measure::now_ns();
  const Status rows = solver_->multiply_rows(x, y);
  const std::int64_t multiplied = measure::now_ns();
  if (Status s = exchange_->wait(); !s) return s; // also after an error: neighbours wait for this rank's rows
  const std::int64_t received = measure::now_ns();
  const Status ghosts = rows ? solver_->add_ghosts(x, y) : rows;
  times_.add(halo_, started - begin + received - multiplied);
  times_.add(product_, multiplied - started + measure::now_ns() - received);
  return ghosts;
}

Status PoissonSystem::precondition(const double* r, double* z) {
  if (Status s = runtime_.poll(); !s) return s;
  const Status done = times_.timed(preconditioner_, [&] { return solver_->precondition(r, z); });
  if (Status s = runtime_.poll(); !s) return s;
  return done;
}

Result<threads::ThreadedArray<double>> PoissonSystem::renumbered(std::span<const double> natural) const {
  threads::ThreadedArray<double> found = TRY(threads::ThreadedArray<double>::zeros(rows()));
  const auto number = solver_->new_of_old();
  for (std::size_t i = 0; i < natural.size(); ++i)
    found[number.empty() ? static_cast<std::int64_t>(i) : number[i]] = natural[i];
  return found;
}

std::vector<double> PoissonSystem::natural(std::span<const double> renumbered) const {
  std::vector<double> found(renumbered.begin(), renumbered.end());
  if (const auto number = solver_->new_of_old(); !number.empty())
    for (std::size_t i = 0; i < renumbered.size(); ++i) found[i] = renumbered[static_cast<std::size_t>(number[i])];
  return found;
}

} // namespace kumihimo::poisson3d
