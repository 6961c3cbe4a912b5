// Vectorised rows, threads over rows; the absorbing layer only where it is.
#include "stencil/fdtd2d/row.hpp"
#include "stencil/fdtd2d/variants.hpp"

namespace kumihimo::fdtd2d::simd {

template <class T>
void update_h(const Fields<T>& f, const NodeBox& box) {
#pragma omp parallel for schedule(static)
  for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y) rows<T>().h(f, y, box.begin[0], box.end[0]);
}

template <class T>
void update_e(const Fields<T>& f, const NodeBox& box) {
#pragma omp parallel for schedule(static)
  for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y) rows<T>().e(f, y, box.begin[0], box.end[0]);
}

KUMIHIMO_FDTD2D_KERNELS()

} // namespace kumihimo::fdtd2d::simd
