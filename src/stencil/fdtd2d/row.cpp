#include "stencil/fdtd2d/row.hpp"

#include "threads/processor_clones.hpp"

#include <algorithm>

namespace kumihimo::fdtd2d {
namespace {

#define ALWAYS_INLINE [[gnu::always_inline]] inline

// Pointers to the first of `count` places; b and c along x are of the same places, those along y of this row.
template <class T>
struct Psi {
  T *of_x, *of_y;
  const T *bx, *cx;
  T by, cy;
};

template <bool in_x, bool in_y, class T>
ALWAYS_INLINE void h_piece(const T* ez, T* __restrict hx, T* __restrict hy, Psi<T> psi, T courant, std::int64_t row,
                           std::int64_t count) {
  T *const psi_x = psi.of_x, *const psi_y = psi.of_y;
  const T *const bx = psi.bx, *const cx = psi.cx;
  const T by = psi.by, cy = psi.cy;
#pragma omp simd
  for (std::int64_t n = 0; n < count; ++n) {
    T dx = ez[n + 1] - ez[n], dy = ez[n + row] - ez[n];
    if constexpr (in_y) {
      psi_y[n] = by * psi_y[n] + cy * dy;
      dy += psi_y[n];
    }
    if constexpr (in_x) {
      psi_x[n] = bx[n] * psi_x[n] + cx[n] * dx;
      dx += psi_x[n];
    }
    hx[n] -= courant * dy;
    hy[n] += courant * dx;
  }
}

template <bool in_x, bool in_y, class T>
ALWAYS_INLINE void e_piece(T* __restrict ez, const T* hx, const T* hy, Psi<T> psi, T courant, std::int64_t row,
                           std::int64_t count) {
  T *const psi_x = psi.of_x, *const psi_y = psi.of_y;
  const T *const bx = psi.bx, *const cx = psi.cx;
  const T by = psi.by, cy = psi.cy;
#pragma omp simd
  for (std::int64_t n = 0; n < count; ++n) {
    T dx = hy[n] - hy[n - 1], dy = hx[n] - hx[n - row];
    if constexpr (in_x) {
      psi_x[n] = bx[n] * psi_x[n] + cx[n] * dx;
      dx += psi_x[n];
    }
    if constexpr (in_y) {
      psi_y[n] = by * psi_y[n] + cy * dy;
      dy += psi_y[n];
    }
    ez[n] += courant * (dx - dy);
  }
}

// The parts of a row: in the layer before it, outside, in the layer behind it. Direct calls of templates: neither
// lambdas nor functions behind pointers would be compiled for the instruction sets of the clones.
template <bool in_x, class T>
ALWAYS_INLINE void h_part(const Fields<T>& f, std::int64_t y, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  const std::int64_t n = f.at(begin, y), i = begin + f.shape().ghosts, j = y + f.shape().ghosts;
  const Psi<T> psi{f.psi_hy + n,          f.psi_hx + n,         f.x.b_half.data() + i,
                   f.x.c_half.data() + i, f.y.b_half.data()[j], f.y.c_half.data()[j]};
  if (y < f.y.inner_begin || y >= f.y.inner_end)
    h_piece<in_x, true, T>(f.ez + n, f.hx + n, f.hy + n, psi, f.courant, f.row(), end - begin);
  else
    h_piece<in_x, false, T>(f.ez + n, f.hx + n, f.hy + n, psi, f.courant, f.row(), end - begin);
}

template <bool in_x, class T>
ALWAYS_INLINE void e_part(const Fields<T>& f, std::int64_t y, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  const std::int64_t n = f.at(begin, y), i = begin + f.shape().ghosts, j = y + f.shape().ghosts;
  const Psi<T> psi{f.psi_ezx + n,         f.psi_ezy + n,        f.x.b_node.data() + i,
                   f.x.c_node.data() + i, f.y.b_node.data()[j], f.y.c_node.data()[j]};
  if (y < f.y.inner_begin || y >= f.y.inner_end)
    e_piece<in_x, true, T>(f.ez + n, f.hx + n, f.hy + n, psi, f.courant, f.row(), end - begin);
  else
    e_piece<in_x, false, T>(f.ez + n, f.hx + n, f.hy + n, psi, f.courant, f.row(), end - begin);
}

} // namespace

#define ROW(name, T)                                                                                                   \
  KUMIHIMO_PROCESSOR_CLONES void update_##name##_row(const Fields<T>& f, std::int64_t y, std::int64_t begin,           \
                                                     std::int64_t end) {                                               \
    const std::int64_t low = std::clamp(f.x.inner_begin, begin, std::max(begin, end));                                 \
    const std::int64_t high = std::clamp(f.x.inner_end, low, std::max(low, end));                                      \
    name##_part<true, T>(f, y, begin, low);                                                                            \
    name##_part<false, T>(f, y, low, high);                                                                            \
    name##_part<true, T>(f, y, high, end);                                                                             \
  }
ROW(h, float)
ROW(h, double)
ROW(e, float)
ROW(e, double)
#undef ROW

} // namespace kumihimo::fdtd2d
