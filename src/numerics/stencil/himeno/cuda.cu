// CUDA by hand: a thread has one column of cells along i and keeps the three values of p on its column in registers, so
// that a warp reads whole lines of each array along k. Blocks cut i into segments. Compiled with -fmad=false, so that
// the bits are the golden copy's. gosa: partial sums of blocks, which one block adds after each sweep.
#include "stencil/device/memory.cuh"
#include "stencil/himeno/variants.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace kumihimo::himeno::cuda {
namespace {

constexpr int width = 64, height = 4, segment = 16; // threads along k and j, planes of i of a block
constexpr int adders = 1024;                        // threads that add the partial sums
constexpr std::int64_t batch = 4096;                // sweeps whose gosa the device keeps

struct GridPointers {
  const float *a0, *a1, *a2, *a3, *b0, *b1, *b2, *c0, *c1, *c2, *bnd, *wrk1;
};

// The sum over the threads of a block, for thread 0.
template <int Threads>
__device__ double sum_of_block(int thread, double mine) {
  __shared__ double sums[Threads];
  sums[thread] = mine;
  for (int half = Threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  return thread == 0 ? sums[0] : 0;
}

__global__ void __launch_bounds__(width* height)
    sweep(GridPointers m, const float* __restrict__ p, float* __restrict__ next, double* partial, long first, long x,
          long y, int I, int J, int K) {
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
  sum = sum_of_block<width * height>(threadIdx.y * width + threadIdx.x, sum);
  if (threadIdx.x == 0 && threadIdx.y == 0)
    partial[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = sum;
}

// gosa of a sweep, by one block. The order of the sum is always the same.
__global__ void __launch_bounds__(adders) add_partial(const double* __restrict__ partial, int count, double* gosa) {
  double sum = 0;
  for (int i = threadIdx.x; i < count; i += adders) sum += partial[i];
  sum = sum_of_block<adders>(threadIdx.x, sum);
  if (threadIdx.x == 0) *gosa = sum;
}

class CudaGrid final : public DeviceGrid {
 public:
  explicit CudaGrid(HimenoGrid& grid) : g_(grid) {}

  Status upload() {
    const HimenoBox box = g_.all();
    I_ = static_cast<int>(box.end[0]), J_ = static_cast<int>(box.end[1]), K_ = static_cast<int>(box.end[2]);
    blocks_ = dim3((K_ + width - 1) / width, (J_ + height - 1) / height, (I_ + segment - 1) / segment);
    const float* const host[] = {g_.a[0], g_.a[1], g_.a[2], g_.a[3], g_.b[0], g_.b[1],
                                 g_.b[2], g_.c[0], g_.c[1], g_.c[2], g_.bnd,  g_.wrk1};
    const float** const device[] = {&m_.a0, &m_.a1, &m_.a2, &m_.a3, &m_.b0,  &m_.b1,
                                    &m_.b2, &m_.c0, &m_.c1, &m_.c2, &m_.bnd, &m_.wrk1};
    for (int i = 0; i < 12; ++i) *device[i] = TRY(memory_.copy_of(host[i], g_.size()));
    p_ = TRY(memory_.copy_of<float>(g_.p, g_.size()));
    next_ = TRY(memory_.copy_of<float>(g_.next, g_.size()));
    partial_ = TRY(memory_.take<double>(parts()));
    gosa_ = TRY(memory_.take<double>(batch));
    return device::check(cudaDeviceSynchronize());
  }

  Status run(std::int64_t sweeps, double* gosa) override {
    for (std::int64_t done = 0; done < sweeps; done += batch) {
      const std::int64_t now = std::min(batch, sweeps - done);
      for (std::int64_t s = 0; s < now; ++s) TRY(sweep_once(gosa_ + s));
      TRY(device::check(cudaMemcpy(gosa + done, gosa_, static_cast<std::size_t>(now) * sizeof(double),
                                   cudaMemcpyDeviceToHost))); // waits for the sweeps
    }
    return Nothing{};
  }

  Status download() override {
    return device::check(
        cudaMemcpy(g_.p, p_, static_cast<std::size_t>(g_.size()) * sizeof(float), cudaMemcpyDeviceToHost));
  }

 private:
  int parts() const { return static_cast<int>(blocks_.x * blocks_.y * blocks_.z); }
  Status sweep_once(double* gosa) {
    sweep<<<blocks_, dim3(width, height)>>>(m_, p_, next_, partial_, g_.at(0, 0, 0), g_.plane(), g_.row(), I_, J_, K_);
    add_partial<<<1, adders>>>(partial_, parts(), gosa);
    std::swap(p_, next_);
    return device::check(cudaGetLastError());
  }

  HimenoGrid& g_;
  device::StencilDeviceMemory memory_;
  GridPointers m_{};
  float *p_ = nullptr, *next_ = nullptr;
  double *partial_ = nullptr, *gosa_ = nullptr;
  int I_ = 0, J_ = 0, K_ = 0;
  dim3 blocks_;
};

} // namespace

Result<std::unique_ptr<DeviceGrid>> upload(HimenoGrid& grid) {
  TRY(device::find());
  auto made = std::make_unique<CudaGrid>(grid);
  TRY(made->upload());
  return std::unique_ptr<DeviceGrid>(std::move(made));
}

} // namespace kumihimo::himeno::cuda
