// A run of HPCG in its phases, each called by itself so that a program can show progress between them:
// make, run_reference, optimise (once or for several orderings), converge, validate, then run_set as often as there is
// time. Error of each phase: one that it needs was left out.
#pragma once

#include "hpcg/rating.hpp"
#include "hpcg/reference.hpp"
#include "hpcg/validation.hpp"

#include <memory>
#include <optional>

namespace kumihimo::hpcg {

class Benchmark {
 public:
  // Errors: the grid; not enough memory.
  static Result<std::unique_ptr<Benchmark>> make(const HpcgGrid& grid);

  // 50 iterations of the golden copy: how far the residual must be reduced.
  Result<CgResult> run_reference();
  // The optimised system, in place of an earlier one; its time is added to that of the optimisation.
  Status optimise(OrderingKind kind);
  // Frees the matrices of the golden copy: what was optimised last stays.
  void free_reference() { matrices_.clear(); }
  struct Validation {
    SymmetryCheck symmetry;
    Convergence convergence;
  };
  Result<Validation> validate();
  // The iterations that the optimised system needs for the reduction of the reference; at least 50. Errors: it does not
  // reach it in 500.
  Result<CgResult> converge();
  // So many iterations from zero.
  Result<CgResult> run_set();

  const HpcgGrid& grid() const { return grid_; }
  const HpcgTimes& times() const { return times_; } // of set-up and optimisation
  int iterations() const { return iterations_; }
  // The largest |x - 1| of the last solution.
  double error() const;
  // Of the optimised system.
  Result<std::int64_t> groups() const;
  Result<double> bytes_per_iteration() const;

 private:
  explicit Benchmark(const HpcgGrid& grid) : grid_(grid) {}
  Status check_reference() const;
  Status check_optimised() const;

  HpcgGrid grid_;
  krylov::SumsOfOne sums_;
  std::vector<HpcgMatrix> matrices_;
  std::optional<System> system_;
  std::optional<Cg> cg_;
  threads::ThreadedArray<double> natural_b_, b_, x_; // b_, x_: in the order of the system
  HpcgTimes times_;
  std::optional<double> wanted_reduction_;
  int iterations_ = reference_iterations;
};

} // namespace kumihimo::hpcg
