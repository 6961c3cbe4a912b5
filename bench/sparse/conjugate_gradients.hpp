// Preconditioned conjugate gradients over a prepared system, with its vector loops fused. Dot products add blocks of
// fixed length in a fixed order.
#pragma once

#include "sparse/prepared_system.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kumihimo::sparse {

struct CgResult {
  int iterations = 0;
  double relative_residual = 0;
};

// Calls of(begin, end) for blocks of 2048 rows on all threads; adds what they return, in order.
template <class Of>
double sum_over_blocks(std::int64_t n, std::vector<double>& partial, Of of) {
  constexpr std::int64_t length = 2048;
  const std::int64_t blocks = (n + length - 1) / length;
  partial.resize(static_cast<std::size_t>(blocks));
#pragma omp parallel for schedule(static) num_threads(threads::count())
  for (std::int64_t b = 0; b < blocks; ++b) partial[b] = of(b * length, std::min(n, (b + 1) * length));
  double sum = 0;
  for (const double part : partial) sum += part;
  return sum;
}

// From x = 0; vectors in the system's order.
inline CgResult conjugate_gradients(const PreparedSystem& system, const double* b, double* x, double tolerance,
                                    int most) {
  const std::int64_t n = system.rows();
  using Vector = threads::ThreadedArray<double>;
  Vector rv = *Vector::zeros(n), zv = *Vector::zeros(n), pv = *Vector::zeros(n), qv = *Vector::zeros(n);
  double *const r = rv.data(), *const z = zv.data(), *const p = pv.data(), *const q = qv.data();
  std::vector<double> partial;
  const auto dot = [&](const double* u, const double* v) {
    return sum_over_blocks(n, partial, [=](std::int64_t i, std::int64_t end) {
      double sum[4] = {};
      for (; i + 4 <= end; i += 4)
        for (int k = 0; k < 4; ++k) sum[k] += u[i + k] * v[i + k];
      for (; i < end; ++i) sum[0] += u[i] * v[i];
      return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    });
  };
  std::fill(x, x + n, 0.0);
  std::copy(b, b + n, r);
  const double norm = std::sqrt(dot(b, b));
  double rr = norm * norm, rho = 0;
  CgResult done;
  for (;; ++done.iterations) {
    done.relative_residual = norm > 0 ? std::sqrt(rr) / norm : 0;
    if (std::sqrt(rr) <= tolerance * norm || done.iterations == most) return done;
    system.precondition(r, z);
    const double next = dot(r, z), beta = done.iterations > 0 ? next / rho : 0;
    rho = next;
    sum_over_blocks(n, partial, [=](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) p[i] = z[i] + beta * p[i];
      return 0.0;
    });
    system.multiply(p, q);
    const double alpha = rho / dot(p, q);
    rr = sum_over_blocks(n, partial, [=](std::int64_t i, std::int64_t end) {
      double sum[4] = {};
      for (; i + 4 <= end; i += 4)
        for (int k = 0; k < 4; ++k) {
          x[i + k] += alpha * p[i + k];
          r[i + k] -= alpha * q[i + k];
          sum[k] += r[i + k] * r[i + k];
        }
      for (; i < end; ++i) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        sum[0] += r[i] * r[i];
      }
      return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    });
  }
}

} // namespace kumihimo::sparse
