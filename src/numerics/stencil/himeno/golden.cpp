// The golden copy: the loops of the benchmark, with sums in double precision.
#include "stencil/himeno/variants.hpp"

namespace kumihimo::himeno::golden {

void sweep(const HimenoGrid& g, const HimenoBox& box, double* gosa) {
  const float* p = g.p;
  const std::int64_t x = g.plane(), y = g.row();
  for (std::int64_t i = box.begin[0]; i < box.end[0]; ++i)
    for (std::int64_t j = box.begin[1]; j < box.end[1]; ++j) {
      double sum = 0;
      for (std::int64_t k = box.begin[2]; k < box.end[2]; ++k) {
        const std::int64_t n = g.at(i, j, k);
        const float s0 = g.a[0][n] * p[n + x] + g.a[1][n] * p[n + y] + g.a[2][n] * p[n + 1] +
                         g.b[0][n] * (p[n + x + y] - p[n + x - y] - p[n - x + y] + p[n - x - y]) +
                         g.b[1][n] * (p[n + y + 1] - p[n - y + 1] - p[n + y - 1] + p[n - y - 1]) +
                         g.b[2][n] * (p[n + x + 1] - p[n - x + 1] - p[n + x - 1] + p[n - x - 1]) +
                         g.c[0][n] * p[n - x] + g.c[1][n] * p[n - y] + g.c[2][n] * p[n - 1] + g.wrk1[n];
        const float ss = (s0 * g.a[3][n] - p[n]) * g.bnd[n];
        sum += static_cast<double>(ss) * static_cast<double>(ss);
        g.next[n] = p[n] + omega * ss;
      }
      gosa[g.row_number(i, j)] += sum;
    }
}

void finish(HimenoGrid& g) {
  const HimenoBox box = g.all();
  for (std::int64_t i = box.begin[0]; i < box.end[0]; ++i)
    for (std::int64_t j = box.begin[1]; j < box.end[1]; ++j)
      for (std::int64_t k = box.begin[2]; k < box.end[2]; ++k) g.p[g.at(i, j, k)] = g.next[g.at(i, j, k)];
}

} // namespace kumihimo::himeno::golden
