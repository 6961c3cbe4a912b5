#include "hpcg/benchmark.hpp"

#include "measure/clock.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::hpcg {
Result<std::unique_ptr<Benchmark>> Benchmark::make(const HpcgGrid& grid) {
  const std::int64_t start = measure::now_ns();
  std::unique_ptr<Benchmark> made(new Benchmark(grid));
  made->matrices_ = TRY(make_levels(grid));
  made->natural_b_ = TRY(threads::ThreadedArray<double>::zeros(grid.rows()));
  made->x_ = TRY(threads::ThreadedArray<double>::zeros(grid.rows()));
  right_hand_side(made->matrices_.front(), made->natural_b_.data());
  made->times_.set_up = measure::seconds_since(start);
  return made;
}

Status Benchmark::check_reference() const {
  if (matrices_.empty())
    return failed("free_reference() has freed the matrices of the reference", {}, "make another benchmark");
  return Nothing{};
}

Status Benchmark::check_optimised() const {
  if (!cg_) return failed("there is no optimised system", {}, "call optimise() first");
  return Nothing{};
}

Result<CgResult> Benchmark::run_reference() {
  TRY(check_reference());
  Reference reference = TRY(Reference::make(matrices_));
  Cg cg = TRY(Cg::make(reference, sums_));
  std::fill(x_.begin(), x_.end(), 0.0);
  const CgResult done = TRY(cg.solve(natural_b_.data(), x_.data(), reference_iterations, 0, true));
  wanted_reduction_ = done.reduction();
  return done;
}

Status Benchmark::optimise(OrderingKind kind) {
  TRY(check_reference());
  const std::int64_t start = measure::now_ns();
  cg_.reset(); // before the new one, so that both need not fit
  system_.reset();
  system_.emplace(TRY(System::make(matrices_, kind)));
  cg_.emplace(TRY(Cg::make(*system_, sums_)));
  b_ = TRY(threads::ThreadedArray<double>::zeros(grid_.rows()));
  system_->to_system(natural_b_.data(), b_.data());
  times_.optimisation += measure::seconds_since(start);
  return Nothing{};
}

Result<Benchmark::Validation> Benchmark::validate() {
  TRY(check_optimised());
  Validation found;
  found.symmetry = TRY(test_symmetry(*system_, sums_));
  found.convergence = TRY(test_convergence(*system_, sums_, b_.data()));
  return found;
}

Result<CgResult> Benchmark::converge() {
  TRY(check_optimised());
  if (!wanted_reduction_) return failed("there is no reduction to reach", {}, "call run_reference() first");
  constexpr int most = 10 * reference_iterations;
  std::fill(x_.begin(), x_.end(), 0.0);
  const CgResult done = TRY(cg_->solve(b_.data(), x_.data(), most, *wanted_reduction_, true));
  if (done.reduction() > *wanted_reduction_ * (1 + 1e-6))
    return failed("the optimised solver does not reduce the residual as the reference does in " + std::to_string(most) +
                  " iterations");
  iterations_ = std::max(reference_iterations, done.iterations);
  return done;
}

Result<CgResult> Benchmark::run_set() {
  TRY(check_optimised());
  std::fill(x_.begin(), x_.end(), 0.0);
  return cg_->solve(b_.data(), x_.data(), iterations_, 0, true);
}

Result<std::int64_t> Benchmark::groups() const {
  TRY(check_optimised());
  return system_->groups(0);
}

Result<double> Benchmark::bytes_per_iteration() const {
  TRY(check_optimised());
  return system_->bytes_per_iteration();
}

double Benchmark::error() const {
  double largest = 0;
  for (const double each : x_) largest = std::max(largest, std::fabs(each - 1));
  return largest;
}

} // namespace kumihimo::hpcg
