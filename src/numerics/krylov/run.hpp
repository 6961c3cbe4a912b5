// One solve under way: what the pages of the methods share. It times every part, sends sums with what ranks must agree
// on, and decides after each iteration whether the method goes on.
//
// Wrong arguments, memory, a product or a preconditioner that fails on one rank does not end that rank's solve at once,
// as the others would wait for it: the next sum tells all ranks.
#pragma once

#include "krylov/basis_kernels.hpp"
#include "krylov/deviation.hpp"
#include "krylov/linear_system.hpp"
#include "krylov/solution.hpp"
#include "krylov/vector_kernels.hpp"

#include <array>
#include <optional>

namespace kumihimo::krylov {

enum class Next {
  go_on,
  replace, // compute all vectors by their definitions, then judge again
  end
};

class SolverRun {
 public:
  SolverRun(LinearSystem& system, Sums& sums, std::span<const double> b, std::span<double> x,
            const SolverOptions& options, Solution& solution);
  // Reads b and x; false: there is nothing to iterate. `arguments`: whether those of this rank are right; an error ends
  // the solve on all ranks.
  bool begin(const Status& arguments);
  Status finish();

  double* x() { return x_; }
  template <std::size_t n>
  std::array<double*, n> vectors() { // zeros; of LinearSystem::length()
    std::array<double*, n> made{};
    for (double*& v : made) v = vector();
    return made;
  }
  std::int64_t parameter(std::string_view name) const { return options_.parameters.find(name)->second; }

  void product(double* in, double* out);
  void precondition(const double* in, double* out);
  // This rank's sums.
  SumArray run(VectorKernel kernel, std::initializer_list<double*> vectors, double alpha = 0, double beta = 0);
  void copy(const double* from, double* to);
  // Of the s-step method.
  void gram(const KrylovBasis& basis, std::span<double> sums);
  void combine(const KrylovBasis& basis, const Combination& coordinates, const CombinationTargets& targets);
  void recur(double* y, double c, const double* u, double h, double g, const double* w);

  // Sums over ranks.
  void start(std::span<const double> local);
  std::span<const double> wait();
  std::span<const double> sum(std::span<const double> local);

  // After a sum. rr = r.r, rz = r.M^-1 r. `by_definition`: both come from vectors that no recursion made.
  Next judge(double rr, double rz, bool by_definition);
  // p.Ap; false: the solve has ended. A method that has it by a recursion restarts before it asks.
  bool is_positive(double curvature);
  void iterated() { ++solution_.iterations; }
  // At the top of a method's loop, where what `own` lists and x are all that the method goes on with. False: the solve
  // has ended.
  bool at_iteration(const FillState& own);
  std::span<double> rows_of(double* v) const { return {v, static_cast<std::size_t>(system_.rows())}; }
  // r = b - A x. False: the solve has ended.
  bool replace(double* r, double* scratch);
  bool fresh() const { return fresh_; } // no iteration since replace()
  bool ended() const { return ended_; }

  Deviation deviation;

 private:
  double* vector();
  void end(Ending ending, Error error);
  bool verify(double true_rr);
  void send(std::span<const double> local);
  std::span<const double> received();
  Error not_finite(std::string_view what) const;

  LinearSystem& system_;
  Sums& sums_;
  const SolverOptions& options_;
  Solution& solution_;
  std::span<const double> given_b_;
  std::span<double> given_x_;
  double *b_ = nullptr, *x_ = nullptr;
  VectorLoops loops_;
  std::vector<threads::ThreadedArray<double>> memory_;
  threads::ThreadedArray<double> gram_blocks_;
  std::vector<double> message_;
  std::size_t payload_ = 0;
  std::optional<Error> failure_; // of this rank, not yet told
  bool wants_stop_ = false, ended_ = false, fresh_ = false, claimed_ = false;
  std::optional<Error> error_;
  double norm_b_ = 0, tolerance_ = 0, least_ = 0, least_true_ = 0;
  std::int64_t since_least_ = 0, since_replacement_ = 0, attempts_ = 0, judged_ = -1;
  double xx_ = 0;
};

} // namespace kumihimo::krylov
