// Target directives: arrays stay on the device for all sweeps.
#include "stencil/himeno/variants.hpp"
#include "threads/team.hpp"

#include <omp.h>

#include <utility>

namespace kumihimo::himeno::offload {

Status run(Grid& g, std::int64_t sweeps, double* gosa) {
  const Box box = g.all();
  const std::int64_t x = g.plane(), y = g.row(), first = g.at(0, 0, 0), size = g.size();
  const std::int64_t I = box.end[0], J = box.end[1], K = box.end[2];
  float *p = g.p, *next = g.next;
  const float *a0 = g.a[0], *a1 = g.a[1], *a2 = g.a[2], *a3 = g.a[3], *b0 = g.b[0], *b1 = g.b[1], *b2 = g.b[2];
  const float *c0 = g.c[0], *c1 = g.c[1], *c2 = g.c[2], *bnd = g.bnd, *wrk1 = g.wrk1;
  const int team = omp_get_num_devices() > 0 ? 256 : threads::count(); // of a block, or the host's
#pragma omp target data map(tofrom                                                                                     \
                            : p [0:size], next [0:size])                                                               \
    map(to                                                                                                             \
        : a0 [0:size], a1 [0:size], a2 [0:size], a3 [0:size], b0 [0:size], b1 [0:size], b2 [0:size], c0 [0:size],      \
          c1 [0:size], c2 [0:size], bnd [0:size], wrk1 [0:size])
  for (std::int64_t s = 0; s < sweeps; ++s) {
    double sum = 0;
#pragma omp target teams distribute parallel for collapse(3) num_threads(team) reduction(+ : sum) map(tofrom : sum)
    for (std::int64_t i = 0; i < I; ++i)
      for (std::int64_t j = 0; j < J; ++j)
        for (std::int64_t k = 0; k < K; ++k) {
          const std::int64_t n = first + i * x + j * y + k;
          const float s0 = a0[n] * p[n + x] + a1[n] * p[n + y] + a2[n] * p[n + 1] +
                           b0[n] * (p[n + x + y] - p[n + x - y] - p[n - x + y] + p[n - x - y]) +
                           b1[n] * (p[n + y + 1] - p[n - y + 1] - p[n + y - 1] + p[n - y - 1]) +
                           b2[n] * (p[n + x + 1] - p[n - x + 1] - p[n + x - 1] + p[n - x - 1]) + c0[n] * p[n - x] +
                           c1[n] * p[n - y] + c2[n] * p[n - 1] + wrk1[n];
          const float ss = (s0 * a3[n] - p[n]) * bnd[n];
          sum += static_cast<double>(ss) * static_cast<double>(ss);
          next[n] = p[n] + omega * ss;
        }
    gosa[s] = sum;
    std::swap(p, next);
  }
  if (sweeps % 2 == 1) std::swap(g.p, g.next);
  return Nothing{};
}

} // namespace kumihimo::himeno::offload
