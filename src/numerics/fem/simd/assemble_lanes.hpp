// Type A with one element in each lane. The gradients g of the shape functions carry the root of the Gauss weight, so
// one array of them gives both factors of sum g_p g_q^T. That sum of a pair of corners p <= q is 9 numbers; the
// material turns it into the block at the end, since it is constant in an element:
//   K_pq = lambda S + mu S^T + mu trace(S) I,  S = sum over the Gauss points of g_p g_q^T,  K_qp = K_pq^T.
#pragma once

#include "fem/lane_loops.hpp"
#include "fem/shape.hpp"
#include "fem/simd/lanes.hpp"

namespace kumihimo::fem {
namespace {

constexpr int pairs = 36;

// A column's place in its row is the number of columns before it: no branch, and eight columns at a time. The blocks
// are brought into the second-level cache while the elements are integrated.
inline void search_lanes(const ElementTask& task, const std::int32_t* nodes, Addresses& addresses) {
  for (int p = 0; p < 8; ++p) {
    const std::int32_t begin = task.row_begin[nodes[p]], end = task.row_begin[nodes[p] + 1];
    std::int32_t found[8], wanted[8];
    for (int q = 0; q < 8; ++q) {
      found[q] = begin;
      wanted[q] = nodes[q];
    }
    for (std::int32_t at = begin; at < end; ++at) {
      const std::int32_t column = task.columns[at];
      for (int q = 0; q < 8; ++q) found[q] += column < wanted[q];
    }
    for (int q = 0; q < 8; ++q) {
      addresses.of[p][q] = found[q];
      const double* const block = task.values + 9 * static_cast<std::int64_t>(found[q]);
      __builtin_prefetch(block, 1, 2);
      __builtin_prefetch(block + 8, 1, 2);
    }
  }
}

// stiffness[pair][entry][lane]
template <int W>
inline void integrate_lanes(const ElementTask& task, const LaneGroup<W>& group, double* stiffness) {
  using V = Lanes<double, W>;
  V points[3][8], jacobians[3][3][4];
  gather<W>(task.coordinates, group.nodes, points);
  all_derivatives(points, jacobians);
  V gradients[8][gauss_points][3];
  for (int g = 0; g < gauss_points; ++g) {
    V cofactor[3][3];
    const V det = cofactors(jacobians, g, cofactor);
    V scale;
    for (int lane = 0; lane < W; ++lane) scale[lane] = __builtin_sqrt(det[lane]);
    scale = 1.0 / scale; // root of the weight / determinant
    for (auto& row : cofactor)
      for (V& entry : row) entry *= scale;
    for (int c = 0; c < 8; ++c) {
      const double* const d = reference_derivatives.of[g][c];
      for (int a = 0; a < 3; ++a)
        gradients[c][g][a] = cofactor[a][0] * d[0] + cofactor[a][1] * d[1] + cofactor[a][2] * d[2];
    }
  }
  double* to = stiffness;
  for (int p = 0; p < 8; ++p)
    for (int q = p; q < 8; ++q, to += 9 * W) {
      V s[9] = {};
#pragma GCC unroll 8
      for (int g = 0; g < gauss_points; ++g) {
        const V* const gp = gradients[p][g];
        const V* const gq = gradients[q][g];
        const V x = gq[0], y = gq[1], z = gq[2];
        s[0] += gp[0] * x;
        s[1] += gp[0] * y;
        s[2] += gp[0] * z;
        s[3] += gp[1] * x;
        s[4] += gp[1] * y;
        s[5] += gp[1] * z;
        s[6] += gp[2] * x;
        s[7] += gp[2] * y;
        s[8] += gp[2] * z;
      }
      const V lambda = group.lambda, mu = group.mu, trace = mu * (s[0] + s[4] + s[8]), diagonal = lambda + mu;
      store(to, diagonal * s[0] + trace);
      store(to + W, lambda * s[1] + mu * s[3]);
      store(to + 2 * W, lambda * s[2] + mu * s[6]);
      store(to + 3 * W, lambda * s[3] + mu * s[1]);
      store(to + 4 * W, diagonal * s[4] + trace);
      store(to + 5 * W, lambda * s[5] + mu * s[7]);
      store(to + 6 * W, lambda * s[6] + mu * s[2]);
      store(to + 7 * W, lambda * s[7] + mu * s[5]);
      store(to + 8 * W, diagonal * s[8] + trace);
    }
}

// Four rows of four lanes, transposed.
template <class V>
KUMIHIMO_INLINE void transpose(V& a, V& b, V& c, V& d) {
  const V ab0 = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab1 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const V cd0 = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd1 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  a = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
  c = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
  d = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
}

// Adds a block, or its transpose, of each of 4 lanes; entries are `stride` numbers apart.
template <bool transposed>
KUMIHIMO_INLINE void add_four(double* values, const double* entries, int stride, const std::int32_t* const at[4],
                              int count) {
  using V = Lanes<double, 4>;
  constexpr int order[9] = {0, transposed ? 3 : 1, transposed ? 6 : 2, transposed ? 1 : 3,
                            4, transposed ? 7 : 5, transposed ? 2 : 6, transposed ? 5 : 7,
                            8};
  V low[4], high[4];
  for (int i = 0; i < 4; ++i) {
    low[i] = load<V>(entries + stride * order[i]);
    high[i] = load<V>(entries + stride * order[4 + i]);
  }
  transpose(low[0], low[1], low[2], low[3]);
  transpose(high[0], high[1], high[2], high[3]);
  for (int lane = 0; lane < count; ++lane) {
    double* const block = values + 9 * static_cast<std::int64_t>(*at[lane]);
    store(block, load<V>(block) + low[lane]);
    store(block + 4, load<V>(block + 4) + high[lane]);
    block[8] += entries[stride * 8 + lane];
  }
}

template <int W>
inline void add_lanes(const ElementTask& task, const double* stiffness, const Addresses* addresses, int count) {
  constexpr int step = W < 4 ? W : 4;
  const double* from = stiffness;
  for (int p = 0; p < 8; ++p)
    for (int q = p; q < 8; ++q, from += 9 * W)
      for (int lane = 0; lane < count; lane += step) {
        if constexpr (step == 4) {
          const int used = count - lane < 4 ? count - lane : 4;
          const std::int32_t* at[4];
          for (int i = 0; i < used; ++i) at[i] = &addresses[lane + i].of[p][q];
          add_four<false>(task.values, from + lane, W, at, used);
          if (p == q) continue;
          for (int i = 0; i < used; ++i) at[i] = &addresses[lane + i].of[q][p];
          add_four<true>(task.values, from + lane, W, at, used);
        } else {
          for (int i = lane; i < lane + step && i < count; ++i) {
            double* const upper = task.values + 9 * static_cast<std::int64_t>(addresses[i].of[p][q]);
            for (int entry = 0; entry < 9; ++entry) upper[entry] += from[W * entry + i];
            if (p == q) continue;
            double* const lower = task.values + 9 * static_cast<std::int64_t>(addresses[i].of[q][p]);
            for (int a = 0; a < 3; ++a)
              for (int b = 0; b < 3; ++b) lower[3 * a + b] += from[W * (3 * b + a) + i];
          }
        }
      }
}

// One thread's elements of a colour. `stiffness` and `addresses` hold a block: each group of W elements begins a new
// part of them.
template <int W>
void assemble_lanes(const ElementTask& task, std::int64_t begin, std::int64_t end, std::int64_t block,
                    double* stiffness, Addresses* addresses) {
  for (std::int64_t first = begin; first < end; first += block) {
    const std::int64_t last = first + block < end ? first + block : end;
    for (std::int64_t i = first; i < last; ++i)
      search_lanes(task, task.nodes + 8 * static_cast<std::int64_t>(task.elements[i]), addresses[i - first]);
    double* to = stiffness;
    for (std::int64_t i = first; i < last; i += W, to += 9 * pairs * W)
      integrate_lanes<W>(task, LaneGroup<W>(task, i, last), to);
    const double* from = stiffness;
    for (std::int64_t i = first; i < last; i += W, from += 9 * pairs * W)
      add_lanes<W>(task, from, addresses + (i - first), static_cast<int>(last - i < W ? last - i : W));
  }
}

} // namespace
} // namespace kumihimo::fem
