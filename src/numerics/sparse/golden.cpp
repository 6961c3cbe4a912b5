#include "sparse/golden.hpp"

#include "krylov/right_side.hpp"
#include "sparse/curvature.hpp"
#include "sparse/pivot.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::sparse::golden {

void multiply(const CrsMatrix& a, std::span<const double> x, std::span<double> y) {
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) sum += a.value[k] * x[a.column[k]];
    y[i] = sum;
  }
}

Result<GoldenFactor> factorise(const CrsMatrix& a, bool own_lower) {
  GoldenFactor f{a.value, std::vector<double>(static_cast<std::size_t>(a.rows))};
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double pivot = entry(a, i, i);
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1] && a.column[k] < i; ++k) {
      const std::int32_t j = a.column[k];
      if (own_lower) // l_ij = a_ij - sum over m < j of l_im l_jm / d_m
        for (std::int64_t p = a.begin[i], q = a.begin[j]; p < k && a.column[q] < j;) {
          if (a.column[p] == a.column[q]) f.lower[k] -= f.lower[p] * f.lower[q] / f.pivot[a.column[p]];
          const std::int32_t left = a.column[p], right = a.column[q];
          if (left <= right) ++p;
          if (right <= left) ++q;
        }
      pivot -= f.lower[k] * f.lower[k] / f.pivot[j];
    }
    if (const double diagonal = entry(a, i, i); !(pivot > least_pivot(diagonal)))
      return pivot_error(i + std::int64_t{1}, pivot, diagonal,
                         "the matrix may be indefinite, or too far from an M-matrix for IC(0)");
    f.pivot[i] = pivot;
  }
  return f;
}

void precondition(const CrsMatrix& a, const GoldenFactor& f, std::span<const double> r, std::span<double> z) {
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double sum = r[i];
    for (std::int64_t k = a.begin[i]; a.column[k] < i; ++k) sum -= f.lower[k] * z[a.column[k]];
    z[i] = sum / f.pivot[i];
  }
  // Column i of L^T subtracts the finished z_i from the rows before it.
  for (std::int32_t i = a.rows - 1; i >= 0; --i)
    for (std::int64_t k = a.begin[i]; a.column[k] < i; ++k) z[a.column[k]] -= f.lower[k] * z[i] / f.pivot[a.column[k]];
}

static double dot(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

Result<GoldenSolved> solve(const CrsMatrix& a, std::span<const double> b, std::span<double> x, double tolerance,
                           int most_iterations) {
  const bool has_nonzero = std::any_of(b.begin(), b.end(), [](double each) { return each != 0; });
  const double norm = TRY(krylov::norm_of_right_side(dot(b, b), has_nonzero));
  const GoldenFactor factor = TRY(factorise(a));
  const std::size_t n = x.size();
  std::vector<double> r(n), z(n), p(n), q(n);
  multiply(a, x, q);
  for (std::size_t i = 0; i < n; ++i) r[i] = b[i] - q[i];
  GoldenSolved solved;
  if (norm == 0) {
    std::fill(x.begin(), x.end(), 0.0);
    solved.converged = true;
    return solved;
  }
  Curvature curvatures;
  double rho = 0;
  for (;; ++solved.iterations) {
    const double residual = std::sqrt(dot(r, r));
    solved.relative_residual = residual / norm;
    solved.converged = residual <= tolerance * norm;
    if (solved.converged || solved.iterations == most_iterations || !std::isfinite(residual)) return solved;
    precondition(a, factor, r, z);
    const double next = dot(r, z), beta = solved.iterations > 0 ? next / rho : 0;
    rho = next;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    multiply(a, p, q);
    const double curvature = dot(p, q);
    TRY(curvatures.check(curvature, rho, beta, solved.relative_residual, tolerance));
    const double alpha = rho / curvature;
    for (std::size_t i = 0; i < n; ++i) x[i] += alpha * p[i];
    for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
  }
}

} // namespace kumihimo::sparse::golden
