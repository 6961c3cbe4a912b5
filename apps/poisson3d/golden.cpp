#include "poisson3d/golden.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kumihimo::poisson3d::golden {

void multiply(const LocalMatrix& a, const double* x, double* y) {
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::int64_t e = a.begin[static_cast<std::size_t>(i)]; e < a.begin[static_cast<std::size_t>(i) + 1]; ++e)
      sum += a.value[static_cast<std::size_t>(e)] * x[a.column[static_cast<std::size_t>(e)]];
    y[i] = sum;
  }
}

Result<Factor> factorise(const LocalMatrix& a) {
  Factor factor;
  factor.pivot.resize(static_cast<std::size_t>(a.rows));
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double pivot = 0;
    for (std::int64_t e = a.begin[static_cast<std::size_t>(i)]; e < a.begin[static_cast<std::size_t>(i) + 1]; ++e) {
      const std::int32_t j = a.column[static_cast<std::size_t>(e)];
      const double value = a.value[static_cast<std::size_t>(e)];
      if (j == i) pivot += value;
      if (j < i) pivot -= value * value / factor.pivot[static_cast<std::size_t>(j)];
    }
    if (!(pivot > 0))
      return wrong_value(fmt::format("the incomplete factor of row {} must have a positive pivot", i + 1),
                         fmt::format("{:g}", pivot), "the matrix is not positive definite enough for IC(0)");
    factor.pivot[static_cast<std::size_t>(i)] = pivot;
  }
  return factor;
}

void precondition(const LocalMatrix& a, const Factor& factor, const double* r, double* z) {
  for (std::int32_t i = 0; i < a.rows; ++i) { // (D + L) z = r
    double sum = r[i];
    for (std::int64_t e = a.begin[static_cast<std::size_t>(i)]; e < a.begin[static_cast<std::size_t>(i) + 1]; ++e) {
      const std::int32_t j = a.column[static_cast<std::size_t>(e)];
      if (j < i) sum -= a.value[static_cast<std::size_t>(e)] * z[j];
    }
    z[i] = sum / factor.pivot[static_cast<std::size_t>(i)];
  }
  for (std::int32_t i = a.rows - 1; i >= 0; --i) { // (I + D^-1 L^T) z = z
    double sum = 0;
    for (std::int64_t e = a.begin[static_cast<std::size_t>(i)]; e < a.begin[static_cast<std::size_t>(i) + 1]; ++e) {
      const std::int32_t j = a.column[static_cast<std::size_t>(e)];
      if (j > i && j < a.rows) sum += a.value[static_cast<std::size_t>(e)] * z[j];
    }
    z[i] -= sum / factor.pivot[static_cast<std::size_t>(i)];
  }
}

namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(i)];
  return sum;
}

Error not_positive(const char* what, double value) {
  if (!std::isfinite(value))
    return failed("the solver met a number that is not finite", what, "check the matrix for NaN and overflow");
  return failed(fmt::format("{} is not positive", what), fmt::format("{:g}", value),
                "conjugate gradients need a symmetric positive definite matrix and preconditioner");
}

} // namespace

Result<Solved> solve(krylov::LinearSystem& system, krylov::Sums& sums, std::span<const double> b, std::span<double> x,
                     const Options& options) {
  const std::int64_t n = system.rows();
  const auto length = static_cast<std::size_t>(system.length());
  std::vector<double> r(b.begin(), b.end()), z(length), p(length), q(length);
  std::fill(x.begin(), x.end(), 0.0);
  Solved solved;
  std::array<double, 2> s{};
  double rr = dot(r, r, n), rz_before = 0;
  if (Status status = sums.sum({&rr, 1}); !status) return status.error();
  if (!std::isfinite(rr)) return not_positive("the norm of the right-hand side", rr);
  solved.norm_b = std::sqrt(rr);
  solved.history.push_back(solved.norm_b > 0 ? 1 : 0);
  while (solved.history.back() > options.tolerance) {
    if (solved.iterations == options.most_iterations) {
      if (options.may_stop_early) break;
      return failed(fmt::format("the residual is {:.3g} after {} iterations, above the tolerance {:g}",
                                solved.history.back(), solved.iterations, options.tolerance),
                    {}, "raise --max-iterations or the tolerance");
    }
    if (Status status = system.precondition(r.data(), z.data()); !status) return status.error();
    double rz = dot(r, z, n);
    if (Status status = sums.sum({&rz, 1}); !status) return status.error();
    if (!(rz > 0) || !std::isfinite(rz)) return not_positive("the product of residual and preconditioned residual", rz);
    const double beta = solved.iterations == 0 ? 0 : rz / rz_before;
    for (std::int64_t i = 0; i < n; ++i)
      p[static_cast<std::size_t>(i)] = z[static_cast<std::size_t>(i)] + beta * p[static_cast<std::size_t>(i)];
    if (Status status = system.multiply(p.data(), q.data()); !status) return status.error();
    double pq = dot(p, q, n);
    if (Status status = sums.sum({&pq, 1}); !status) return status.error();
    if (!(pq > 0) || !std::isfinite(pq)) return not_positive("the curvature of a search direction", pq);
    const double alpha = rz / pq;
    for (std::int64_t i = 0; i < n; ++i) {
      x[static_cast<std::size_t>(i)] += alpha * p[static_cast<std::size_t>(i)];
      r[static_cast<std::size_t>(i)] -= alpha * q[static_cast<std::size_t>(i)];
    }
    s = {dot(r, r, n), 0};
    for (std::int64_t i = 0; i < n; ++i) s[1] += x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(i)];
    if (Status status = sums.sum(s); !status) return status.error();
    if (!std::isfinite(s[0])) return not_positive("the norm of the residual", s[0]);
    rz_before = rz;
    ++solved.iterations;
    solved.largest_x = std::max(solved.largest_x, std::sqrt(s[1]));
    solved.history.push_back(std::sqrt(s[0]) / solved.norm_b);
    if (options.progress) options.progress(solved.iterations, solved.history.back());
  }
  return solved;
}

} // namespace kumihimo::poisson3d::golden
