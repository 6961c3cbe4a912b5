#include "hpcg/cg.hpp"

#include "measure/clock.hpp"

#include <cmath>

namespace kumihimo::hpcg {
namespace {

class CgTimer {
 public:
  explicit CgTimer(double& seconds) : seconds_(seconds), start_(measure::now_ns()) {}
  ~CgTimer() { seconds_ += measure::seconds_since(start_); }
  CgTimer(const CgTimer&) = delete;
  CgTimer& operator=(const CgTimer&) = delete;

 private:
  double& seconds_;
  std::int64_t start_;
};

} // namespace

Result<Cg> Cg::make(krylov::LinearSystem& system, krylov::Sums& sums) {
  Cg made(system, sums);
  for (threads::ThreadedArray<double>* each : {&made.r_, &made.z_, &made.p_, &made.product_})
    *each = TRY(threads::ThreadedArray<double>::zeros(system.length()));
  return made;
}

Result<CgResult> Cg::solve(const double* b, double* x, int most_iterations, double tolerance, bool preconditioned) {
  CgResult done;
  CgSeconds& seconds = done.seconds;
  double* const r = r_.data();
  double* const z = z_.data();
  double* const p = p_.data();
  double* const q = product_.data();
  const std::int64_t start = measure::now_ns();
  {
    CgTimer timed(seconds.update);
    vectors_.copy(x, p);
  }
  {
    CgTimer timed(seconds.product);
    (void)TRY(system_->multiply(p, q));
  }
  {
    CgTimer timed(seconds.update);
    vectors_.subtract(b, q, r);
  }
  {
    CgTimer timed(seconds.dot);
    done.norm = done.first_norm = std::sqrt(TRY(vectors_.dot(r, r)));
  }
  double rho = 0;
  while (done.iterations < most_iterations && done.norm / done.first_norm > tolerance) {
    {
      CgTimer timed(seconds.preconditioner);
      if (preconditioned)
        (void)TRY(system_->precondition(r, z));
      else
        vectors_.copy(r, z);
    }
    const double before = rho;
    {
      CgTimer timed(seconds.dot);
      rho = TRY(vectors_.dot(r, z));
    }
    if (!(rho > 0) || !std::isfinite(rho))
      return failed("the preconditioner must be symmetric positive definite", "r M^-1 r is " + std::to_string(rho));
    {
      CgTimer timed(seconds.update);
      if (done.iterations == 0)
        vectors_.copy(z, p);
      else
        vectors_.scaled_sum(rho / before, z, p);
    }
    {
      CgTimer timed(seconds.product);
      (void)TRY(system_->multiply(p, q));
    }
    double curvature = 0;
    {
      CgTimer timed(seconds.dot);
      curvature = TRY(vectors_.dot(p, q));
    }
    if (!(curvature > 0) || !std::isfinite(curvature))
      return failed("the matrix must be symmetric positive definite", "p A p is " + std::to_string(curvature));
    {
      CgTimer timed(seconds.update);
      done.norm = std::sqrt(TRY(vectors_.advance(rho / curvature, p, q, x, r)));
    }
    ++done.iterations;
  }
  seconds.total = measure::seconds_since(start);
  return done;
}

} // namespace kumihimo::hpcg
