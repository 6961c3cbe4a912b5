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
  const Psi<T> psi{f.psi_hy + n,
                   f.psi_hx + n,
                   f.along_x.b_half.data() + i,
                   f.along_x.c_half.data() + i,
                   f.along_y.b_half.data()[j],
                   f.along_y.c_half.data()[j]};
  if (y < f.along_y.inner_begin || y >= f.along_y.inner_end)
    h_piece<in_x, true, T>(f.ez + n, f.hx + n, f.hy + n, psi, f.courant, f.row(), end - begin);
  else
    h_piece<in_x, false, T>(f.ez + n, f.hx + n, f.hy + n, psi, f.courant, f.row(), end - begin);
}

template <bool in_x, class T>
ALWAYS_INLINE void e_part(const Fields<T>& f, std::int64_t y, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  const std::int64_t n = f.at(begin, y), i = begin + f.shape().ghosts, j = y + f.shape().ghosts;
  const Psi<T> psi{f.psi_ezx + n,
                   f.psi_ezy + n,
                   f.along_x.b_node.data() + i,
                   f.along_x.c_node.data() + i,
                   f.along_y.b_node.data()[j],
                   f.along_y.c_node.data()[j]};
  if (y < f.along_y.inner_begin || y >= f.along_y.inner_end)
    e_piece<in_x, true, T>(f.ez + n, f.hx + n, f.hy + n, psi, f.courant, f.row(), end - begin);
  else
    e_piece<in_x, false, T>(f.ez + n, f.hx + n, f.hy + n, psi, f.courant, f.row(), end - begin);
}

// Where the loops of the layer end and begin: whole vectors, as c = 0 gives the same bits behind the layer.
constexpr std::int64_t vector = 16;
struct Parts {
  std::int64_t low, high;
};
template <class T>
ALWAYS_INLINE Parts parts_of(const Absorption<T>& x, std::int64_t begin, std::int64_t end) {
  const std::int64_t low = std::clamp((x.inner_begin + vector - 1) / vector * vector, begin, std::max(begin, end));
  return {low, std::clamp(x.inner_end / vector * vector, low, std::max(low, end))};
}

} // namespace

#define ROWS(T)                                                                                                        \
  KUMIHIMO_PROCESSOR_CLONES void update_h_row(const Fields<T>& f, std::int64_t y, std::int64_t begin,                  \
                                              std::int64_t end) {                                                      \
    const Parts at = parts_of(f.along_x, begin, end);                                                                  \
    h_part<true, T>(f, y, begin, at.low);                                                                              \
    h_part<false, T>(f, y, at.low, at.high);                                                                           \
    h_part<true, T>(f, y, at.high, end);                                                                               \
  }                                                                                                                    \
  KUMIHIMO_PROCESSOR_CLONES void update_e_row(const Fields<T>& f, std::int64_t y, std::int64_t begin,                  \
                                              std::int64_t end) {                                                      \
    const bool at_wall = f.shape().first[0] == 0 && begin == 1 && end > begin; /* whole vectors from the wall on */    \
    const std::int64_t first = at_wall ? 0 : begin;                                                                    \
    const Parts at = parts_of(f.along_x, first, end);                                                                  \
    e_part<true, T>(f, y, first, at.low);                                                                              \
    e_part<false, T>(f, y, at.low, at.high);                                                                           \
    e_part<true, T>(f, y, at.high, end);                                                                               \
    if (at_wall) f.ez[f.at(0, y)] = 0;                                                                                 \
  }
ROWS(float)
ROWS(double)
#undef ROWS

} // namespace kumihimo::fdtd2d
