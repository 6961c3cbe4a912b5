#include "fem/product.hpp"

#include "fem/row_sums.hpp"
#include "threads/partition.hpp"
#include "threads/processor_clones.hpp"
#include "threads/team.hpp"

namespace kumihimo::fem {
namespace {

// Numbers from a block to the one that is brought into the caches meanwhile: the processor's own prefetches stop at the
// end of a page.
constexpr std::int64_t ahead = 256;

KUMIHIMO_PROCESSOR_CLONES void multiply_rows(const std::int32_t* row_begin, const std::int32_t* columns,
                                             const double* values, const double* x, double* y, std::int64_t begin,
                                             std::int64_t end) {
  for (std::int64_t n = begin; n < end; ++n) {
    RowSums sums;
    for (std::int32_t at = row_begin[n]; at < row_begin[n + 1]; ++at) {
      __builtin_prefetch(values + 9 * static_cast<std::int64_t>(at) + ahead);
      sums.add(values + 9 * static_cast<std::int64_t>(at), x + 3 * static_cast<std::int64_t>(columns[at]));
    }
    for (int a = 0; a < 3; ++a) y[3 * n + a] = sums.of(a);
  }
}

} // namespace

void multiply(const BlockMatrix& matrix, const double* x, double* y) {
  const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
  for (int i = 0; i < team; ++i) {
    const threads::IndexRange mine = threads::part(matrix.owned, i, team);
    multiply_rows(matrix.row_begin.data(), matrix.columns.data(), matrix.values.data(), x, y, mine.begin, mine.end);
  }
}

void multiply_golden(const BlockMatrix& matrix, const double* x, double* y) {
  for (std::int64_t n = 0; n < matrix.owned; ++n)
    for (std::int64_t a = 0; a < 3; ++a) {
      double sum = 0;
      for (std::int32_t at = matrix.row_begin[n]; at < matrix.row_begin[n + 1]; ++at)
        for (std::int64_t c = 0; c < 3; ++c)
          sum += matrix.block(at)[3 * a + c] * x[3 * static_cast<std::int64_t>(matrix.columns[at]) + c];
      y[3 * n + a] = sum;
    }
}

double product_bytes(const BlockMatrix& matrix) {
  const double blocks = matrix.row_begin[matrix.owned];
  return blocks * (9 * 8 + 4) + static_cast<double>(matrix.owned) * (4 + 24) + static_cast<double>(matrix.rows()) * 24;
}

} // namespace kumihimo::fem
