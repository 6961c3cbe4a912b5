// CUDA by hand: two kernels a step, a warp along x; blocks outside the absorbing layer do not touch its memory.
// Compiled with -fmad=false, so that the bits are the golden copy's.
#include "stencil/device/memory.cuh"
#include "stencil/fdtd2d/variants.hpp"

#include <array>
#include <memory>
#include <vector>

namespace kumihimo::fdtd2d::cuda {
namespace {

constexpr int width = 64, height = 4;

template <class T>
struct FieldPointers {
  T *ez, *hx, *hy, *psi_ezx, *psi_ezy, *psi_hx, *psi_hy;
  const T *bx, *cx, *bxh, *cxh, *by, *cy, *byh, *cyh;
  long origin, row;
  int ghosts, x_low, x_high, y_low, y_high; // inner part without layer
  T courant;
};

template <class T>
__global__ void update_h(FieldPointers<T> f, int x0, int y0, int X, int Y) {
  const int x = x0 + blockIdx.x * width + threadIdx.x, y = y0 + blockIdx.y * height + threadIdx.y;
  if (x >= X || y >= Y) return;
  const long n = f.origin + y * f.row + x;
  const int i = x + f.ghosts, j = y + f.ghosts;
  const T here = f.ez[n];
  T dx = f.ez[n + 1] - here, dy = f.ez[n + f.row] - here;
  if (y < f.y_low || y >= f.y_high) dy += f.psi_hx[n] = f.byh[j] * f.psi_hx[n] + f.cyh[j] * dy;
  if (x < f.x_low || x >= f.x_high) dx += f.psi_hy[n] = f.bxh[i] * f.psi_hy[n] + f.cxh[i] * dx;
  f.hx[n] -= f.courant * dy;
  f.hy[n] += f.courant * dx;
}

template <class T>
__global__ void update_e(FieldPointers<T> f, int x0, int y0, int X, int Y, long source, T added) {
  const int x = x0 + blockIdx.x * width + threadIdx.x, y = y0 + blockIdx.y * height + threadIdx.y;
  if (x >= X || y >= Y) return;
  const long n = f.origin + y * f.row + x;
  const int i = x + f.ghosts, j = y + f.ghosts;
  T dx = f.hy[n] - f.hy[n - 1], dy = f.hx[n] - f.hx[n - f.row];
  if (x < f.x_low || x >= f.x_high) dx += f.psi_ezx[n] = f.bx[i] * f.psi_ezx[n] + f.cx[i] * dx;
  if (y < f.y_low || y >= f.y_high) dy += f.psi_ezy[n] = f.by[j] * f.psi_ezy[n] + f.cy[j] * dy;
  T e = f.ez[n] + f.courant * (dx - dy);
  if (n == source) e += added;
  f.ez[n] = e;
}

template <class T>
class CudaFields final : public DeviceFields {
 public:
  CudaFields(const Fields<T>& fields, const WaveSource& source) : f_(fields), source_(source) {}

  Status upload() {
    T* const host[] = {f_.ez, f_.hx, f_.hy, f_.psi_ezx, f_.psi_ezy, f_.psi_hx, f_.psi_hy};
    for (int i = 0; i < field_count; ++i) *of_device()[i] = TRY(memory_.copy_of<T>(host[i], f_.size()));
    d_.bx = TRY(copy_of(f_.along_x.b_node)), d_.cx = TRY(copy_of(f_.along_x.c_node));
    d_.bxh = TRY(copy_of(f_.along_x.b_half)), d_.cxh = TRY(copy_of(f_.along_x.c_half));
    d_.by = TRY(copy_of(f_.along_y.b_node)), d_.cy = TRY(copy_of(f_.along_y.c_node));
    d_.byh = TRY(copy_of(f_.along_y.b_half)), d_.cyh = TRY(copy_of(f_.along_y.c_half));
    d_.origin = f_.at(0, 0), d_.row = f_.row(), d_.ghosts = static_cast<int>(f_.shape().ghosts);
    d_.courant = f_.courant;
    d_.x_low = static_cast<int>(f_.along_x.inner_begin), d_.x_high = static_cast<int>(f_.along_x.inner_end);
    d_.y_low = static_cast<int>(f_.along_y.inner_begin), d_.y_high = static_cast<int>(f_.along_y.inner_end);
    return device::check(cudaDeviceSynchronize());
  }

  Status run(std::int64_t first, std::int64_t steps) override {
    const NodeBox e = nodes_of_e(f_.shape()), h = places_of_h(e);
    const long at = source_.node[0] < 0 ? -1 : f_.at(source_.node[0], source_.node[1]);
    const auto X = static_cast<int>(e.end[0]), Y = static_cast<int>(e.end[1]);
    const dim3 threads(width, height), blocks((X + 1 + width - 1) / width, (Y + 1 + height - 1) / height);
    for (std::int64_t s = 0; s < steps; ++s) {
      update_h<T><<<blocks, threads>>>(d_, static_cast<int>(h.begin[0]), static_cast<int>(h.begin[1]), X, Y);
      const T added = at < 0 ? T(0) : static_cast<T>(source_.added(first + s, f_.shape().courant));
      update_e<T><<<blocks, threads>>>(d_, static_cast<int>(e.begin[0]), static_cast<int>(e.begin[1]), X, Y, at, added);
      TRY(device::check(cudaGetLastError()));
    }
    return device::check(cudaDeviceSynchronize());
  }

  Status download() override {
    T* const host[] = {f_.ez, f_.hx, f_.hy, f_.psi_ezx, f_.psi_ezy, f_.psi_hx, f_.psi_hy};
    const std::size_t bytes = static_cast<std::size_t>(f_.size()) * sizeof(T);
    for (int i = 0; i < field_count; ++i)
      TRY(device::check(cudaMemcpy(host[i], *of_device()[i], bytes, cudaMemcpyDeviceToHost)));
    return Nothing{};
  }

 private:
  std::array<T**, field_count> of_device() {
    return {&d_.ez, &d_.hx, &d_.hy, &d_.psi_ezx, &d_.psi_ezy, &d_.psi_hx, &d_.psi_hy};
  }
  Result<T*> copy_of(const std::vector<T>& values) {
    return memory_.copy_of(values.data(), static_cast<std::int64_t>(values.size()));
  }

  const Fields<T>& f_;
  const WaveSource source_;
  device::StencilDeviceMemory memory_;
  FieldPointers<T> d_{};
};

} // namespace

template <class T>
Result<std::unique_ptr<DeviceFields>> upload(const Fields<T>& fields, const WaveSource& source) {
  TRY(device::find());
  auto made = std::make_unique<CudaFields<T>>(fields, source);
  TRY(made->upload());
  return std::unique_ptr<DeviceFields>(std::move(made));
}

template Result<std::unique_ptr<DeviceFields>> upload(const Fields<float>&, const WaveSource&);
template Result<std::unique_ptr<DeviceFields>> upload(const Fields<double>&, const WaveSource&);

} // namespace kumihimo::fdtd2d::cuda
