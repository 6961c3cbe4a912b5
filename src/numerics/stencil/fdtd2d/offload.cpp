// Target directives: fields are on the device from upload() on.
#include "stencil/fdtd2d/variants.hpp"
#include "threads/team.hpp"

#include <omp.h>

namespace kumihimo::fdtd2d::offload {
namespace {

template <class T>
class OffloadedFields final : public DeviceFields {
 public:
  OffloadedFields(const Fields<T>& fields, const WaveSource& source) : f_(fields), source_(source) {
    for_each_array([](const T* array, std::int64_t size) {
#pragma omp target enter data map(to : array [0:size])
    });
  }
  ~OffloadedFields() override {
    for_each_array([](const T* array, std::int64_t size) {
#pragma omp target exit data map(delete : array [0:size])
    });
  }
  Status run(std::int64_t first, std::int64_t steps) override;
  Status download() override {
    for_each_field([](T* field, std::int64_t size) {
#pragma omp target update from(field [0:size])
    });
    return Nothing{};
  }

 private:
  template <class Visit>
  void for_each_field(Visit visit) const {
    for (T* const field : {f_.ez, f_.hx, f_.hy, f_.psi_ezx, f_.psi_ezy, f_.psi_hx, f_.psi_hy}) visit(field, f_.size());
  }
  template <class Visit>
  void for_each_array(Visit visit) const {
    for_each_field(visit);
    for (const Absorption<T>* const along : {&f_.along_x, &f_.along_y})
      for (const std::vector<T>* const each : {&along->b_node, &along->c_node, &along->b_half, &along->c_half})
        visit(each->data(), static_cast<std::int64_t>(each->size()));
  }
  const Fields<T>& f_;
  const WaveSource source_;
};

template <class T>
Status OffloadedFields<T>::run(std::int64_t first, std::int64_t steps) {
  const Fields<T>& f = f_;
  const WaveSource& source = source_;
  const NodeBox e = nodes_of_e(f.shape()), h = places_of_h(e);
  const std::int64_t ghosts = f.shape().ghosts, row = f.row(), origin = f.at(0, 0);
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

} // namespace

template <class T>
Result<std::unique_ptr<DeviceFields>> upload(const Fields<T>& fields, const WaveSource& source) {
  return std::unique_ptr<DeviceFields>(std::make_unique<OffloadedFields<T>>(fields, source));
}

template Result<std::unique_ptr<DeviceFields>> upload(const Fields<float>&, const WaveSource&);
template Result<std::unique_ptr<DeviceFields>> upload(const Fields<double>&, const WaveSource&);

} // namespace kumihimo::fdtd2d::offload
