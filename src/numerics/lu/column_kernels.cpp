#include "lu/column_kernels.hpp"

#include "threads/processor_clones.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::lu {
namespace {

constexpr std::int64_t piece = 512; // rows: a piece of some columns fits in the first cache

constexpr int width = 16;

} // namespace

KUMIHIMO_PROCESSOR_CLONES
std::int64_t place_of_largest(const double* x, std::int64_t n) {
  double best[width] = {}, sum[width] = {};
  std::int64_t i = 0;
  for (; i + width <= n; i += width)
    for (int l = 0; l < width; ++l) {
      const double magnitude = std::fabs(x[i + l]);
      best[l] = magnitude > best[l] ? magnitude : best[l];
      sum[l] += magnitude;
    }
  double largest = 0, all = 0;
  for (int l = 0; l < width; ++l) {
    largest = std::max(largest, best[l]);
    all += sum[l];
  }
  for (; i < n; ++i) {
    largest = std::max(largest, std::fabs(x[i]));
    all += std::fabs(x[i]);
  }
  const bool has_nan = std::isnan(all);
  for (i = 0; i < n; ++i)
    if (has_nan ? std::isnan(x[i]) : std::fabs(x[i]) == largest) return i;
  return -1;
}

KUMIHIMO_PROCESSOR_CLONES
void eliminate(double* __restrict x, std::int64_t n, double factor, double* __restrict next, std::int64_t leading,
               std::int64_t columns, const double* row, std::int64_t row_stride) {
  for (std::int64_t begin = 0; begin < n; begin += piece) {
    const std::int64_t end = std::min(n, begin + piece);
    for (std::int64_t i = begin; i < end; ++i) x[i] *= factor;
    for (std::int64_t j = 0; j < columns; ++j) {
      double* __restrict const column = next + j * leading;
      const double u = row[j * row_stride];
      for (std::int64_t i = begin; i < end; ++i) column[i] -= x[i] * u;
    }
  }
}

} // namespace kumihimo::lu
