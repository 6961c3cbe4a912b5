// CUDA by hand: two kernels a step, a warp along x; blocks outside the absorbing layer do not touch its memory.
// Compiled with -fmad=false, so that the bits are the golden copy's.
#include "stencil/fdtd2d/variants.hpp"

#include <cuda_runtime.h>

#include <vector>

namespace kumihimo::fdtd2d::cuda {
namespace {

constexpr int width = 64, height = 4;

template <class T>
struct Arrays {
  T *ez, *hx, *hy, *psi_ezx, *psi_ezy, *psi_hx, *psi_hy;
  const T *bx, *cx, *bxh, *cxh, *by, *cy, *byh, *cyh;
  long origin, row;
  int ghosts, x_low, x_high, y_low, y_high; // inner part without layer
  T courant;
};

template <class T>
__global__ void update_h(Arrays<T> f, int x0, int y0, int X, int Y) {
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
__global__ void update_e(Arrays<T> f, int x0, int y0, int X, int Y, long source, T added) {
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

// Memory of the device, freed at the end.
struct Memory {
  ~Memory() {
    for (void* each : all) cudaFree(each);
  }
  template <class T>
  T* copy_of(const T* host, std::int64_t size) {
    void* made = nullptr;
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    if (cudaMalloc(&made, bytes) != cudaSuccess) return nullptr;
    all.push_back(made);
    if (cudaMemcpy(made, host, bytes, cudaMemcpyHostToDevice) != cudaSuccess) return nullptr;
    return static_cast<T*>(made);
  }
  std::vector<void*> all;
};

} // namespace

template <class T>
Status run(const Fields<T>& f, const Source& source, std::int64_t first, std::int64_t steps) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    return not_applicable("the variant cuda needs a CUDA device, and there is none");
  const Box e = nodes_of_e(f.shape()), h = places_of_h(e);
  Memory memory;
  Arrays<T> d{};
  bool complete = true;
  const auto copy = [&](const T* host, std::int64_t size) {
    T* const made = memory.copy_of(host, size);
    complete = complete && made;
    return made;
  };
  T* const host[] = {f.ez, f.hx, f.hy, f.psi_ezx, f.psi_ezy, f.psi_hx, f.psi_hy};
  T** const device[] = {&d.ez, &d.hx, &d.hy, &d.psi_ezx, &d.psi_ezy, &d.psi_hx, &d.psi_hy};
  for (int i = 0; i < field_count; ++i) *device[i] = copy(host[i], f.size());
  const auto of_axis = [&](const std::vector<T>& values) {
    return copy(values.data(), static_cast<std::int64_t>(values.size()));
  };
  d.bx = of_axis(f.along_x.b_node), d.cx = of_axis(f.along_x.c_node), d.bxh = of_axis(f.along_x.b_half), d.cxh = of_axis(f.along_x.c_half);
  d.by = of_axis(f.along_y.b_node), d.cy = of_axis(f.along_y.c_node), d.byh = of_axis(f.along_y.b_half), d.cyh = of_axis(f.along_y.c_half);
  if (!complete) return failed("the device has not enough memory", {}, "use a smaller --size");
  d.origin = f.at(0, 0), d.row = f.row(), d.ghosts = static_cast<int>(f.shape().ghosts), d.courant = f.courant;
  d.x_low = static_cast<int>(f.along_x.inner_begin), d.x_high = static_cast<int>(f.along_x.inner_end);
  d.y_low = static_cast<int>(f.along_y.inner_begin), d.y_high = static_cast<int>(f.along_y.inner_end);
  const long at = source.node[0] < 0 ? -1 : f.at(source.node[0], source.node[1]);
  const auto X = static_cast<int>(e.end[0]), Y = static_cast<int>(e.end[1]);
  const dim3 threads(width, height), blocks((X + 1 + width - 1) / width, (Y + 1 + height - 1) / height);
  for (std::int64_t s = 0; s < steps; ++s) {
    update_h<T><<<blocks, threads>>>(d, static_cast<int>(h.begin[0]), static_cast<int>(h.begin[1]), X, Y);
    const T added = at < 0 ? T(0) : static_cast<T>(source.added(first + s, f.shape().courant));
    update_e<T><<<blocks, threads>>>(d, static_cast<int>(e.begin[0]), static_cast<int>(e.begin[1]), X, Y, at, added);
  }
  const std::size_t bytes = static_cast<std::size_t>(f.size()) * sizeof(T);
  for (int i = 0; i < field_count; ++i)
    if (const cudaError_t code = cudaMemcpy(host[i], *device[i], bytes, cudaMemcpyDeviceToHost); code != cudaSuccess)
      return failed("the device failed", cudaGetErrorString(code));
  return Nothing{};
}

template Status run(const Fields<float>&, const Source&, std::int64_t, std::int64_t);
template Status run(const Fields<double>&, const Source&, std::int64_t, std::int64_t);

} // namespace kumihimo::fdtd2d::cuda
