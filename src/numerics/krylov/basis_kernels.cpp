#include "krylov/basis_kernels.hpp"

#include "krylov/vector_kernels.hpp"
#include "threads/partition.hpp"
#include "threads/processor_clones.hpp"

#include <omp.h>

#include <algorithm>
#include <array>

namespace kumihimo::krylov {
namespace {

constexpr std::int64_t tile = 256; // rows of a combination at once

KUMIHIMO_PROCESSOR_CLONES double block_dot(std::int64_t n, const double* __restrict x, const double* __restrict y) {
  double lane[lanes] = {};
  const std::int64_t full = n / lanes * lanes;
  for (std::int64_t i = 0; i < full; i += lanes)
    for (int l = 0; l < lanes; ++l) lane[l] += x[i + l] * y[i + l];
  for (std::int64_t i = full; i < n; ++i) lane[i - full] += x[i] * y[i];
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

KUMIHIMO_PROCESSOR_CLONES void add_tile(std::int64_t n, double* __restrict y, double a, const double* __restrict x) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

KUMIHIMO_PROCESSOR_CLONES void recur_range(std::int64_t n, double* __restrict y, double c, const double* __restrict u,
                                           double h, double g, const double* __restrict w) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = (y[i] - c * u[i]) / h - g * w[i];
}

void gram_of_block(std::int64_t n, std::int64_t first, const KrylovBasis& basis, double* sums) {
  const std::size_t m = basis.columns();
  for (const std::vector<double*>& left : {basis.v, basis.u})
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = i; j < m; ++j)
        *sums++ = block_dot(n, left[i] + first, left[i] == basis.u[j] ? left[i] + first : basis.u[j] + first);
}

} // namespace

std::int64_t gram_blocks(std::int64_t rows) { return (rows + block_rows - 1) / block_rows; }

void gram(std::int64_t rows, const KrylovBasis& basis, threads::ThreadedArray<double>& blocks, std::span<double> sums) {
  const auto count = static_cast<std::int64_t>(sums.size()), all = gram_blocks(rows);
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < all; ++b)
    gram_of_block(std::min(block_rows, rows - b * block_rows), b * block_rows, basis, blocks.data() + b * count);
  for (std::int64_t apart = 1; apart < all; apart *= 2)
    for (std::int64_t b = 0; b + apart < all; b += 2 * apart)
      for (std::int64_t k = 0; k < count; ++k) blocks[b * count + k] += blocks[(b + apart) * count + k];
  for (std::int64_t k = 0; k < count; ++k) sums[static_cast<std::size_t>(k)] = all > 0 ? blocks[k] : 0;
}

void gram_plain(std::int64_t rows, const KrylovBasis& basis, std::span<double> sums) {
  std::size_t k = 0;
  for (const std::vector<double*>& left : {basis.v, basis.u})
    for (std::size_t i = 0; i < basis.columns(); ++i)
      for (std::size_t j = i; j < basis.columns(); ++j, ++k) {
        sums[k] = 0;
        for (std::int64_t row = 0; row < rows; ++row) sums[k] += left[i][row] * basis.u[j][row];
      }
}

void combine(std::int64_t rows, const KrylovBasis& basis, const Combination& at, const CombinationTargets& to) {
#pragma omp parallel for schedule(static)
  for (std::int64_t first = 0; first < rows; first += tile) {
    const std::int64_t n = std::min(tile, rows - first);
    std::array<double, tile> x{}, r{}, z{}, q{}, p{};
    for (std::size_t j = 0; j < basis.columns(); ++j) {
      const double *v = basis.v[j] + first, *u = basis.u[j] + first;
      add_tile(n, x.data(), at.x[j], v);
      add_tile(n, r.data(), at.r[j], u);
      add_tile(n, z.data(), at.r[j], v);
      add_tile(n, q.data(), at.p[j], u);
      add_tile(n, p.data(), at.p[j], v);
    }
    add_tile(n, to.x + first, 1, x.data());
    std::copy_n(r.data(), n, to.r + first);
    std::copy_n(z.data(), n, to.z + first);
    std::copy_n(q.data(), n, to.q + first);
    std::copy_n(p.data(), n, to.p + first);
  }
}

void combine_plain(std::int64_t rows, const KrylovBasis& basis, const Combination& at, const CombinationTargets& to) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double x = 0, r = 0, z = 0, q = 0, p = 0;
    for (std::size_t j = 0; j < basis.columns(); ++j) {
      x += at.x[j] * basis.v[j][i];
      r += at.r[j] * basis.u[j][i];
      z += at.r[j] * basis.v[j][i];
      q += at.p[j] * basis.u[j][i];
      p += at.p[j] * basis.v[j][i];
    }
    to.x[i] += x;
    to.r[i] = r;
    to.z[i] = z;
    to.q[i] = q;
    to.p[i] = p;
  }
}

void recur(std::int64_t rows, double* y, double c, const double* u, double h, double g, const double* w) {
#pragma omp parallel
  {
    const auto [begin, end] = threads::part(rows, omp_get_thread_num(), omp_get_num_threads());
    if (begin < end) recur_range(end - begin, y + begin, c, u + begin, h, g, w + begin);
  }
}

} // namespace kumihimo::krylov
