#include "poisson3d/golden.hpp"

#include "krylov/right_side.hpp"
#include "threads/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace kumihimo::poisson3d::golden {

namespace {

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Sums over ranks that also add up how many ranks have failed: a rank that fails alone ends the solve of all.
class CheckedSums {
 public:
  explicit CheckedSums(krylov::Sums& sums) : sums_(sums) {}
  void note(const Status& mine) {
    if (!mine && !failure_) failure_ = mine.error();
  }
  bool has_failed() const { return failure_.has_value(); } // this rank
  Status sum(double& a, double* b = nullptr) {
    std::array<double, 3> values{a, b ? *b : 0, failure_ ? 1.0 : 0.0};
    if (Status s = sums_.sum(values); !s) return s;
    if (values[2] > 0) return failure_ ? *failure_ : failed("the solve ends because another rank failed");
    a = values[0];
    if (b) *b = values[1];
    return Nothing{};
  }

 private:
  krylov::Sums& sums_;
  std::optional<Error> failure_;
};

Error not_positive(const char* what, double value) {
  if (!std::isfinite(value))
    return failed("the solver met a number that is not finite", what, "check the matrix for NaN and overflow");
  return failed(fmt::format("{} is not positive", what), fmt::format("{:g}", value),
                "conjugate gradients need a symmetric positive definite matrix and preconditioner");
}

} // namespace

Result<GoldenCgSolved> solve(krylov::LinearSystem& system, krylov::Sums& over_ranks, std::span<const double> b,
                             std::span<double> x, const GoldenCgOptions& options) {
  const std::int64_t n = system.rows(), length = std::max<std::int64_t>(1, system.length());
  CheckedSums sums(over_ranks);
  std::array<threads::ThreadedArray<double>, 4> memory;
  for (threads::ThreadedArray<double>& each : memory) {
    Result<threads::ThreadedArray<double>> made = threads::ThreadedArray<double>::zeros(length);
    if (made)
      each = *std::move(made);
    else
      sums.note(made.error());
  }
  double *const r = memory[0].data(), *const z = memory[1].data(), *const p = memory[2].data(),
                *const q = memory[3].data();
  GoldenCgSolved solved;
  double rr = 0, rz_before = 0, nonzeros = 0;
  if (!sums.has_failed()) {
    std::copy(b.begin(), b.end(), r);
    std::fill(x.begin(), x.end(), 0.0);
    rr = dot(r, r, n);
    for (const double each : b) nonzeros += each != 0;
  }
  if (Status status = sums.sum(rr, &nonzeros); !status) return status.error();
  solved.norm_b = TRY(krylov::norm_of_right_side(rr, nonzeros > 0));
  solved.history.push_back(solved.norm_b > 0 ? 1 : 0);
  const auto rows = static_cast<std::size_t>(n);
  const auto state = [&](StateList& list) {
    list.number("iterations", solved.iterations).vector("history", solved.history);
    list.number("largest x", solved.largest_x).number("r.z", rz_before);
    list.array("x", x).array("r", std::span(r, rows)).array("p", std::span(p, rows));
  };
  while (solved.history.back() > options.tolerance) {
    if (options.at_iteration) TRY(options.at_iteration(solved.iterations, state));
    if (solved.iterations >= options.most_iterations) {
      if (options.may_stop_early) break;
      return failed(fmt::format("the residual is {:.3g} after {} iterations, above the tolerance {:g}",
                                solved.history.back(), solved.iterations, options.tolerance),
                    {}, "raise --max-iterations or the tolerance");
    }
    sums.note(system.precondition(r, z));
    double rz = dot(r, z, n);
    if (Status status = sums.sum(rz); !status) return status.error();
    if (!(rz > 0) || !std::isfinite(rz)) return not_positive("the product of residual and preconditioned residual", rz);
    const double beta = solved.iterations == 0 ? 0 : rz / rz_before;
    for (std::int64_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    sums.note(system.multiply(p, q));
    double pq = dot(p, q, n);
    if (Status status = sums.sum(pq); !status) return status.error();
    if (!(pq > 0) || !std::isfinite(pq)) return not_positive("the curvature of a search direction", pq);
    const double alpha = rz / pq;
    double* const solution = x.data();
    for (std::int64_t i = 0; i < n; ++i) {
      solution[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    rr = dot(r, r, n);
    double xx = dot(solution, solution, n);
    if (Status status = sums.sum(rr, &xx); !status) return status.error();
    if (!std::isfinite(rr)) return not_positive("the norm of the residual", rr);
    rz_before = rz;
    ++solved.iterations;
    solved.largest_x = std::max(solved.largest_x, std::sqrt(xx));
    solved.history.push_back(std::sqrt(rr) / solved.norm_b);
    if (options.progress) options.progress(solved.iterations, solved.history.back());
  }
  return solved;
}

} // namespace kumihimo::poisson3d::golden
