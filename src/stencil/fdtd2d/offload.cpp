// Target directives: fields stay on the device for all steps.
#include "stencil/fdtd2d/variants.hpp"
#include "threads/team.hpp"

#include <omp.h>

namespace kumihimo::fdtd2d::offload {

template <class T>
Status run(const Fields<T>& f, const Source& source, std::int64_t first, std::int64_t steps) {
  const Box e = nodes_of_e(f.shape()), h = places_of_h(e);
  const std::int64_t ghosts = f.shape().ghosts, row = f.row(), origin = f.at(0, 0);
  const std::int64_t size = f.size(), xs = static_cast<std::int64_t>(f.along_x.b_node.size()),
                     ys = static_cast<std::int64_t>(f.along_y.b_node.size());
  const std::int64_t x0 = h.begin[0], y0 = h.begin[1], x1 = e.begin[0], y1 = e.begin[1], X = e.end[0], Y = e.end[1];
  const T courant = f.courant;
  T *ez = f.ez, *hx = f.hx, *hy = f.hy, *psi_ezx = f.psi_ezx, *psi_ezy = f.psi_ezy, *psi_hx = f.psi_hx,
    *psi_hy = f.psi_hy;
  const T *bx = f.along_x.b_node.data(), *cx = f.along_x.c_node.data(), *by = f.along_y.b_node.data(),
          *cy = f.along_y.c_node.data();
  const T *bxh = f.along_x.b_half.data(), *cxh = f.along_x.c_half.data(), *byh = f.along_y.b_half.data(),
          *cyh = f.along_y.c_half.data();
  const std::int64_t at = source.node[0] < 0 ? -1 : f.at(source.node[0], source.node[1]);
  const int team = omp_get_num_devices() > 0 ? 256 : threads::count(); // of a block, or the host's
#pragma omp target data map(tofrom                                                                                     \
                            : ez [0:size], hx [0:size], hy [0:size], psi_ezx [0:size], psi_ezy [0:size],               \
                              psi_hx [0:size], psi_hy [0:size])                                                        \
    map(to                                                                                                             \
        : bx [0:xs], cx [0:xs], bxh [0:xs], cxh [0:xs], by [0:ys], cy [0:ys], byh [0:ys], cyh [0:ys])
  for (std::int64_t s = 0; s < steps; ++s) {
#pragma omp target teams distribute parallel for collapse(2) num_threads(team)
    for (std::int64_t y = y0; y < Y; ++y)
      for (std::int64_t x = x0; x < X; ++x) {
        const std::int64_t n = origin + y * row + x, i = x + ghosts, j = y + ghosts;
        const T dx = ez[n + 1] - ez[n], dy = ez[n + row] - ez[n];
        psi_hx[n] = byh[j] * psi_hx[n] + cyh[j] * dy;
        psi_hy[n] = bxh[i] * psi_hy[n] + cxh[i] * dx;
        hx[n] -= courant * (dy + psi_hx[n]);
        hy[n] += courant * (dx + psi_hy[n]);
      }
    const T added = at < 0 ? T(0) : static_cast<T>(source.added(first + s, f.shape().courant));
#pragma omp target teams distribute parallel for collapse(2) num_threads(team)
    for (std::int64_t y = y1; y < Y; ++y)
      for (std::int64_t x = x1; x < X; ++x) {
        const std::int64_t n = origin + y * row + x, i = x + ghosts, j = y + ghosts;
        const T dx = hy[n] - hy[n - 1], dy = hx[n] - hx[n - row];
        psi_ezx[n] = bx[i] * psi_ezx[n] + cx[i] * dx;
        psi_ezy[n] = by[j] * psi_ezy[n] + cy[j] * dy;
        ez[n] += courant * ((dx + psi_ezx[n]) - (dy + psi_ezy[n]));
        if (n == at) ez[n] += added;
      }
  }
  return Nothing{};
}

template Status run(const Fields<float>&, const Source&, std::int64_t, std::int64_t);
template Status run(const Fields<double>&, const Source&, std::int64_t, std::int64_t);

} // namespace kumihimo::fdtd2d::offload
