// The updates of a row in vectors of `bytes` bytes. For files of simd/ only (base/lanes.hpp).
#pragma once

#include "base/lanes.hpp"
#include "stencil/fdtd2d/row.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::fdtd2d {
namespace {

// n elements of (before, after) from `first` on, where each has n: 1 is all but the first of `before`, then the first
// of `after`; n - 1 the last of `before`, then all but the last of `after`. A number is a vector of one.
template <int first, class V, int... lane>
KUMIHIMO_INLINE void moved(V& to, const V& before, const V& after, std::integer_sequence<int, lane...>) {
  to = __builtin_shufflevector(before, after, (first + lane)...);
}
template <class T, class V>
KUMIHIMO_INLINE void one_before(V& to, const V& before, const V& after) {
  constexpr int n = sizeof(V) / sizeof(T);
  if constexpr (n == 1)
    to = before;
  else
    moved<n - 1>(to, before, after, std::make_integer_sequence<int, n>());
}
template <class T, class V>
KUMIHIMO_INLINE void one_behind(V& to, const V& before, const V& after) {
  constexpr int n = sizeof(V) / sizeof(T);
  if constexpr (n == 1)
    to = after;
  else
    moved<1>(to, before, after, std::make_integer_sequence<int, n>());
}

// psi = b psi + c D; D += psi.
template <class V, class B, class C, class T>
KUMIHIMO_INLINE void absorb(V& difference, T* at, const B& b, const C& c) {
  V psi = load<V>(at);
  psi = b * psi + c * difference;
  store(at, psi);
  difference += psi;
}

enum class UpdatedFields { h, e, both };

// Of places [begin, end), whose number is a multiple of V's, all in the layer along x (y) or none. With `both`, H stays
// in registers for Ez: 5 vectors are read and 3 written for each place, where two passes read 10.
template <class V, UpdatedFields of, bool in_x, bool in_y, class T>
KUMIHIMO_INLINE void piece(const Fields<T>& f, std::int64_t y, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t lanes = sizeof(V) / sizeof(T);
  constexpr bool with_h = of != UpdatedFields::e, with_e = of != UpdatedFields::h;
  const std::int64_t first = f.at(0, y), row = f.row(), i = f.shape().ghosts;
  const auto j = static_cast<std::size_t>(y + i);
  T *const ez = f.ez + first, *const hx = f.hx + first, *const hy = f.hy + first;
  T *const psi_hx = f.psi_hx + first, *const psi_hy = f.psi_hy + first;
  T *const psi_ezx = f.psi_ezx + first, *const psi_ezy = f.psi_ezy + first;
  const T *const bx_half = f.along_x.b_half.data() + i, *const cx_half = f.along_x.c_half.data() + i;
  const T *const bx_node = f.along_x.b_node.data() + i, *const cx_node = f.along_x.c_node.data() + i;
  const T by_half = f.along_y.b_half[j], cy_half = f.along_y.c_half[j], by_node = f.along_y.b_node[j],
          cy_node = f.along_y.c_node[j], courant = f.courant;
  V b{}, c{}, e_here, e_next{}, hx_here, hy_here, hy_before{}, dx, dy, beside;
  e_here = load<V>(ez + begin);
  if constexpr (with_e) hy_before = load<V>(hy + begin - lanes);
  for (std::int64_t n = begin; n < end; n += lanes) {
    hx_here = load<V>(hx + n);
    hy_here = load<V>(hy + n);
    if constexpr (with_h) {
      e_next = load<V>(ez + n + lanes);
      beside = load<V>(ez + n + row);
      one_behind<T>(dx, e_here, e_next);
      dx -= e_here;
      dy = beside - e_here;
      if constexpr (in_y) absorb(dy, psi_hx + n, by_half, cy_half);
      if constexpr (in_x) {
        b = load<V>(bx_half + n);
        c = load<V>(cx_half + n);
        absorb(dx, psi_hy + n, b, c);
      }
      hx_here -= courant * dy;
      hy_here += courant * dx;
      store(hx + n, hx_here);
      store(hy + n, hy_here);
    } else {
      e_here = load<V>(ez + n);
    }
    if constexpr (with_e) {
      beside = load<V>(hx + n - row);
      one_before<T>(dx, hy_before, hy_here);
      dx = hy_here - dx;
      dy = hx_here - beside;
      if constexpr (in_x) {
        b = load<V>(bx_node + n);
        c = load<V>(cx_node + n);
        absorb(dx, psi_ezx + n, b, c);
      }
      if constexpr (in_y) absorb(dy, psi_ezy + n, by_node, cy_node);
      e_here += courant * (dx - dy);
      store(ez + n, e_here);
      hy_before = hy_here;
    }
    e_here = e_next;
  }
}

// Whole vectors from a multiple of their length on, and single places before and behind them.
template <class V, UpdatedFields of, bool in_x, bool in_y, class T>
KUMIHIMO_INLINE void part(const Fields<T>& f, std::int64_t y, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t lanes = sizeof(V) / sizeof(T);
  const std::int64_t low = std::min(end, (begin + lanes - 1) & -lanes), high = std::max(low, end & -lanes);
  if (begin < low) piece<T, of, in_x, in_y>(f, y, begin, low);
  if (low < high) piece<V, of, in_x, in_y>(f, y, low, high);
  if (high < end) piece<T, of, in_x, in_y>(f, y, high, end);
}

// In the layer before the row, outside, in the layer behind it. The layer's loops end and begin at multiples of a
// vector: c = 0 behind the layer gives the same bits.
template <class V, UpdatedFields of, bool in_y, class T>
KUMIHIMO_INLINE void parts(const Fields<T>& f, std::int64_t y, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t lanes = sizeof(V) / sizeof(T);
  const Absorption<T>& x = f.along_x;
  const std::int64_t low = std::clamp((x.inner_begin + lanes - 1) & -lanes, begin, end),
                     high = std::clamp(x.inner_end & -lanes, low, end);
  if (begin < low) part<V, of, true, in_y>(f, y, begin, low);
  if (low < high) part<V, of, false, in_y>(f, y, low, high);
  if (high < end) part<V, of, true, in_y>(f, y, high, end);
}

template <class T, int bytes, UpdatedFields of>
void update(const Fields<T>& f, std::int64_t y, std::int64_t begin, std::int64_t end) {
  using V = Lanes<T, bytes / sizeof(T)>;
  if (begin >= end) return;
  // Whole vectors from the wall on: its Ez stays 0, but its H may be updated once only.
  const bool has_wall = of != UpdatedFields::h && f.shape().first[0] == 0 && begin <= (of == UpdatedFields::e ? 1 : 0);
  const std::int64_t first = has_wall ? 0 : begin;
  if (y < f.along_y.inner_begin || y >= f.along_y.inner_end)
    parts<V, of, true>(f, y, first, end);
  else
    parts<V, of, false>(f, y, first, end);
  if (has_wall) f.ez[f.at(0, y)] = 0;
}

template <class T, int bytes>
constexpr RowKernels<T> row_kernels{update<T, bytes, UpdatedFields::h>, update<T, bytes, UpdatedFields::e>,
                                    update<T, bytes, UpdatedFields::both>};

} // namespace
} // namespace kumihimo::fdtd2d
