#include "stencil/himeno/row.hpp"

#include "threads/processor_clones.hpp"

#include <initializer_list>

namespace kumihimo::himeno {
namespace {

constexpr std::int64_t line = 16;   // floats of a cache line
constexpr std::int64_t ahead = 128; // floats: a processor does not follow 14 streams by itself

// The coefficients and `p` do not overlap `to`. One pointer for each array: loops over members are not vectorised.
KUMIHIMO_PROCESSOR_CLONES double update(const float* a0, const float* a1, const float* a2, const float* a3,
                                        const float* b0, const float* b1, const float* b2, const float* c0,
                                        const float* c1, const float* c2, const float* bnd, const float* wrk1,
                                        const float* p, float* __restrict to, std::int64_t x, std::int64_t y,
                                        std::int64_t count) {
  double sum = 0;
  const auto cells = [&] __attribute__((always_inline)) (std::int64_t begin, std::int64_t end) {
    float* const __restrict made = to;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = begin; k < end; ++k) {
      const float s0 = a0[k] * p[k + x] + a1[k] * p[k + y] + a2[k] * p[k + 1] +
                       b0[k] * (p[k + x + y] - p[k + x - y] - p[k - x + y] + p[k - x - y]) +
                       b1[k] * (p[k + y + 1] - p[k - y + 1] - p[k + y - 1] + p[k - y - 1]) +
                       b2[k] * (p[k + x + 1] - p[k - x + 1] - p[k + x - 1] + p[k - x - 1]) + c0[k] * p[k - x] +
                       c1[k] * p[k - y] + c2[k] * p[k - 1] + wrk1[k];
      const float ss = (s0 * a3[k] - p[k]) * bnd[k];
      sum += static_cast<double>(ss) * static_cast<double>(ss);
      made[k] = p[k] + omega * ss;
    }
  };
  std::int64_t k = 0;
  for (; k + line <= count; k += line) {
    for (const float* const each : {a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1, p + x})
      __builtin_prefetch(each + k + ahead);
    __builtin_prefetch(to + k + ahead, 1);
    cells(k, k + line);
  }
  cells(k, count);
  return sum;
}

} // namespace

double update_row(const HimenoGrid& g, const float* p, float* to, std::int64_t n, std::int64_t count) {
  return update(g.a[0] + n, g.a[1] + n, g.a[2] + n, g.a[3] + n, g.b[0] + n, g.b[1] + n, g.b[2] + n, g.c[0] + n,
                g.c[1] + n, g.c[2] + n, g.bnd + n, g.wrk1 + n, p + n, to + n, g.plane(), g.row(), count);
}

} // namespace kumihimo::himeno
