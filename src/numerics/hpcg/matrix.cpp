#include "hpcg/matrix.hpp"

#include <algorithm>

namespace kumihimo::hpcg {
namespace {

struct NeighbourSpan {
  std::int64_t first, last;
};
NeighbourSpan around(std::int64_t i, std::int64_t n) {
  return {std::max<std::int64_t>(i - 1, 0), std::min(i + 1, n - 1)};
}

void fill_row(const HpcgGrid& g, std::int64_t x, std::int64_t y, std::int64_t z, HpcgMatrix& a, std::int64_t at) {
  const std::int64_t row = g.point(x, y, z);
  const NeighbourSpan xs = around(x, g.nx), ys = around(y, g.ny), zs = around(z, g.nz);
  for (std::int64_t k = zs.first; k <= zs.last; ++k)
    for (std::int64_t j = ys.first; j <= ys.last; ++j)
      for (std::int64_t i = xs.first; i <= xs.last; ++i, ++at) {
        const std::int64_t column = g.point(i, j, k);
        a.columns[at] = static_cast<std::int32_t>(column);
        a.values[at] = column == row ? 26.0 : -1.0;
        if (column == row) a.diagonal[row] = at;
      }
}

} // namespace

Result<HpcgMatrix> make_matrix(const HpcgGrid& grid) {
  HpcgMatrix a{.grid = grid};
  a.row_begin = TRY(threads::ThreadedArray<std::int64_t>::zeros(grid.rows() + 1));
  a.columns = TRY(threads::ThreadedArray<std::int32_t>::zeros(grid.nonzeros()));
  a.values = TRY(threads::ThreadedArray<double>::zeros(grid.nonzeros()));
  a.diagonal = TRY(threads::ThreadedArray<std::int64_t>::zeros(grid.rows()));
  const auto degree = [](std::int64_t i, std::int64_t n) { return 1 + (i > 0) + (i < n - 1); };
  std::int64_t at = 0, row = 0;
  for (std::int64_t z = 0; z < grid.nz; ++z)
    for (std::int64_t y = 0; y < grid.ny; ++y) {
      const std::int64_t many = degree(y, grid.ny) * degree(z, grid.nz);
      for (std::int64_t x = 0; x < grid.nx; ++x) {
        a.row_begin[row++] = at;
        at += many * degree(x, grid.nx);
      }
    }
  a.row_begin[row] = at;
#pragma omp parallel for schedule(static)
  for (std::int64_t z = 0; z < grid.nz; ++z)
    for (std::int64_t y = 0; y < grid.ny; ++y)
      for (std::int64_t x = 0; x < grid.nx; ++x) fill_row(grid, x, y, z, a, a.row_begin[grid.point(x, y, z)]);
  return a;
}

void right_hand_side(const HpcgMatrix& a, double* b) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    double sum = 0;
    for (std::int64_t k = a.row_begin[i]; k < a.row_begin[i + 1]; ++k) sum += a.values[k];
    b[i] = sum;
  }
}

} // namespace kumihimo::hpcg
