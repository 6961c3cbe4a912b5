// CUDA by hand: a thread has one column of cells along i and keeps the three values of p on its column in registers, so
// that a warp reads whole lines of each array along k. Blocks cut i into segments. Compiled with -fmad=false, so that
// the bits are the golden copy's. gosa: partial sums of blocks, added by the host in order.
#include "stencil/himeno/variants.hpp"

#include <cuda_runtime.h>

#include <string>
#include <utility>
#include <vector>

namespace kumihimo::himeno::cuda {
namespace {

constexpr int width = 64, height = 4, segment = 16; // threads along k and j, planes of i of a block

struct Arrays {
  const float *a0, *a1, *a2, *a3, *b0, *b1, *b2, *c0, *c1, *c2, *bnd, *wrk1;
};

__global__ void __launch_bounds__(width* height)
    sweep(Arrays m, const float* __restrict__ p, float* __restrict__ next, double* partial, long first, long x, long y,
          int I, int J, int K) {
  const int k = blockIdx.x * width + threadIdx.x, j = blockIdx.y * height + threadIdx.y;
  const int begin = blockIdx.z * segment, end = min(begin + segment, I);
  double sum = 0;
  if (j < J && k < K) {
    long n = first + begin * x + j * y + k;
    float below = p[n - x], here = p[n], above;
    for (int i = begin; i < end; ++i, n += x) {
      above = p[n + x];
      const float s0 = m.a0[n] * above + m.a1[n] * p[n + y] + m.a2[n] * p[n + 1] +
                       m.b0[n] * (p[n + x + y] - p[n + x - y] - p[n - x + y] + p[n - x - y]) +
                       m.b1[n] * (p[n + y + 1] - p[n - y + 1] - p[n + y - 1] + p[n - y - 1]) +
                       m.b2[n] * (p[n + x + 1] - p[n - x + 1] - p[n + x - 1] + p[n - x - 1]) + m.c0[n] * below +
                       m.c1[n] * p[n - y] + m.c2[n] * p[n - 1] + m.wrk1[n];
      const float ss = (s0 * m.a3[n] - here) * m.bnd[n];
      sum += static_cast<double>(ss) * static_cast<double>(ss);
      next[n] = here + omega * ss;
      below = here;
      here = above;
    }
  }
  __shared__ double sums[width * height];
  const int thread = threadIdx.y * width + threadIdx.x;
  sums[thread] = sum;
  for (int half = width * height / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  if (thread == 0) partial[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = sums[0];
}

// Memory of the device, freed at the end.
struct Memory {
  ~Memory() {
    for (void* each : all) cudaFree(each);
  }
  template <class T>
  T* take(std::int64_t size) {
    void* made = nullptr;
    if (cudaMalloc(&made, static_cast<std::size_t>(size) * sizeof(T)) != cudaSuccess) return nullptr;
    all.push_back(made);
    return static_cast<T*>(made);
  }
  std::vector<void*> all;
};

Error device_failed(cudaError_t code) { return failed("the device failed", cudaGetErrorString(code)); }

} // namespace

Status run(Grid& g, std::int64_t sweeps, double* gosa) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    return not_applicable("the variant cuda needs a CUDA device, and there is none");
  const Box box = g.all();
  const auto I = static_cast<int>(box.end[0]), J = static_cast<int>(box.end[1]), K = static_cast<int>(box.end[2]);
  const dim3 threads(width, height),
      blocks((K + width - 1) / width, (J + height - 1) / height, (I + segment - 1) / segment);
  const std::size_t parts = std::size_t{blocks.x} * blocks.y * blocks.z, bytes = g.size() * sizeof(float);
  Memory memory;
  const float* const host[] = {g.a[0], g.a[1], g.a[2], g.a[3], g.b[0], g.b[1], g.b[2],
                               g.c[0], g.c[1], g.c[2], g.bnd,  g.wrk1, g.p,    g.next};
  float* device[14];
  for (int i = 0; i < 14; ++i) {
    device[i] = memory.take<float>(g.size());
    if (!device[i]) return failed("the device has not enough memory", {}, "use a smaller --size");
    if (const cudaError_t code = cudaMemcpy(device[i], host[i], bytes, cudaMemcpyHostToDevice); code != cudaSuccess)
      return device_failed(code);
  }
  const Arrays arrays{device[0], device[1], device[2], device[3], device[4],  device[5],
                      device[6], device[7], device[8], device[9], device[10], device[11]};
  double* const partial = memory.take<double>(static_cast<std::int64_t>(parts) * sweeps);
  if (!partial) return failed("the device has not enough memory", {}, "use a smaller --size");
  float *p = device[12], *next = device[13];
  for (std::int64_t s = 0; s < sweeps; ++s) {
    sweep<<<blocks, threads>>>(arrays, p, next, partial + s * parts, g.at(0, 0, 0), g.plane(), g.row(), I, J, K);
    std::swap(p, next);
  }
  std::vector<double> sums(parts * static_cast<std::size_t>(sweeps));
  if (const cudaError_t code = cudaMemcpy(sums.data(), partial, sums.size() * 8, cudaMemcpyDeviceToHost);
      code != cudaSuccess)
    return device_failed(code);
  if (const cudaError_t code = cudaMemcpy(g.p, p, bytes, cudaMemcpyDeviceToHost); code != cudaSuccess)
    return device_failed(code);
  for (std::int64_t s = 0; s < sweeps; ++s) {
    gosa[s] = 0;
    for (std::size_t i = 0; i < parts; ++i) gosa[s] += sums[s * parts + i];
  }
  return Nothing{};
}

} // namespace kumihimo::himeno::cuda
