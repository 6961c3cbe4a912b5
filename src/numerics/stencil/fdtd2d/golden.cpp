// The golden copy: the equations in plain loops, the absorbing layer with coefficients that are 0 elsewhere.
#include "stencil/fdtd2d/variants.hpp"

namespace kumihimo::fdtd2d::golden {

template <class T>
void update_h(const Fields<T>& f, const NodeBox& box) {
  const std::int64_t ghosts = f.shape().ghosts;
  for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y)
    for (std::int64_t x = box.begin[0]; x < box.end[0]; ++x) {
      const std::int64_t n = f.at(x, y), i = x + ghosts, j = y + ghosts;
      const T dx = f.ez[n + 1] - f.ez[n], dy = f.ez[n + f.row()] - f.ez[n];
      f.psi_hx[n] = f.along_y.b_half[j] * f.psi_hx[n] + f.along_y.c_half[j] * dy;
      f.psi_hy[n] = f.along_x.b_half[i] * f.psi_hy[n] + f.along_x.c_half[i] * dx;
      f.hx[n] -= f.courant * (dy + f.psi_hx[n]);
      f.hy[n] += f.courant * (dx + f.psi_hy[n]);
    }
}

template <class T>
void update_e(const Fields<T>& f, const NodeBox& box) {
  const std::int64_t ghosts = f.shape().ghosts;
  for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y)
    for (std::int64_t x = box.begin[0]; x < box.end[0]; ++x) {
      const std::int64_t n = f.at(x, y), i = x + ghosts, j = y + ghosts;
      const T dx = f.hy[n] - f.hy[n - 1], dy = f.hx[n] - f.hx[n - f.row()];
      f.psi_ezx[n] = f.along_x.b_node[i] * f.psi_ezx[n] + f.along_x.c_node[i] * dx;
      f.psi_ezy[n] = f.along_y.b_node[j] * f.psi_ezy[n] + f.along_y.c_node[j] * dy;
      f.ez[n] += f.courant * ((dx + f.psi_ezx[n]) - (dy + f.psi_ezy[n]));
    }
}

KUMIHIMO_FDTD2D_KERNELS()

} // namespace kumihimo::fdtd2d::golden
