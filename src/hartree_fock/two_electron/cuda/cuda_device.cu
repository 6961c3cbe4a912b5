// Units of a builder on a GPU: one kernel for each class and way (chunk.hpp). Chunks of quartets run one after the
// other in a stream, while the caller computes its own units.
#include "hartree_fock/two_electron/cuda/cuda_device.hpp"
#include "hartree_fock/two_electron/cuda/tables.hpp"
#include "hartree_fock/two_electron/density.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <string>

namespace kumihimo::hartree_fock::two_electron {
namespace cuda {
namespace {

constexpr int block = 64;        // threads
constexpr int shared_block = 32; // of kernels whose sums are in shared memory: half_size doubles a thread
constexpr double chunk_bytes = 512e6;

struct AtomicAdd {
  __device__ void operator()(double* to, double value) const { atomicAdd(to, value); }
};

__device__ std::int64_t thread_number() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

template <int Bra, int Ket>
__global__ void add_quartets(Chunk chunk) {
  double half[half_size<Bra, Ket>];
  if (thread_number() < chunk.quartets()) add_quartet<Bra, Ket>(chunk, thread_number(), half, 1, AtomicAdd{});
}
template <int Bra, int Ket>
__global__ void store_quartets(Chunk chunk) {
  double half[half_size<Bra, Ket>];
  if (thread_number() < chunk.quartets()) store_quartet<Bra, Ket>(chunk, thread_number(), half, 1);
}
template <int Bra, int Ket>
__global__ void store_quartets_shared(Chunk chunk) {
  __shared__ double half[half_size<Bra, Ket> * shared_block];
  if (thread_number() < chunk.quartets())
    store_quartet<Bra, Ket>(chunk, thread_number(), half + threadIdx.x, shared_block);
}
template <int Bra, int Ket>
__global__ void gather_bra_coulombs(Chunk chunk) {
  if (thread_number() < static_cast<std::int64_t>(chunk.bra_count) * pair_kinds[Bra].functions())
    gather_bra_coulomb<Bra, Ket>(chunk, thread_number());
}
template <int Bra, int Ket>
__global__ void gather_ket_coulombs(Chunk chunk) {
  if (thread_number() < static_cast<std::int64_t>(chunk.ket.count) * pair_kinds[Ket].functions())
    gather_ket_coulomb<Bra, Ket>(chunk, thread_number());
}
template <int Bra, int Ket>
__global__ void gather_exchanges(Chunk chunk) {
  if (thread_number() < static_cast<std::int64_t>(chunk.n) * chunk.n) gather_exchange<Bra, Ket>(chunk, thread_number());
}

unsigned blocks(std::int64_t threads, int size) { return static_cast<unsigned>((threads + size - 1) / size); }

template <int Bra, int Ket>
void launch(const Chunk& chunk, GpuWay way, cudaStream_t stream) {
  const std::int64_t quartets = chunk.quartets();
  if (way == GpuWay::atomics) {
    add_quartets<Bra, Ket><<<blocks(quartets, block), block, 0, stream>>>(chunk);
    return;
  }
  if (way == GpuWay::stored)
    store_quartets<Bra, Ket><<<blocks(quartets, block), block, 0, stream>>>(chunk);
  else
    store_quartets_shared<Bra, Ket><<<blocks(quartets, shared_block), shared_block, 0, stream>>>(chunk);
  const std::int64_t bras = static_cast<std::int64_t>(chunk.bra_count) * pair_kinds[Bra].functions();
  const std::int64_t kets = static_cast<std::int64_t>(chunk.ket.count) * pair_kinds[Ket].functions();
  const std::int64_t elements = static_cast<std::int64_t>(chunk.n) * chunk.n;
  gather_bra_coulombs<Bra, Ket><<<blocks(bras, block), block, 0, stream>>>(chunk);
  gather_ket_coulombs<Bra, Ket><<<blocks(kets, block), block, 0, stream>>>(chunk);
  gather_exchanges<Bra, Ket><<<blocks(elements, block), block, 0, stream>>>(chunk);
}

using Launch = void (*)(const Chunk&, GpuWay, cudaStream_t);
constexpr Launch launches[] = {launch<kind_ss, kind_ss>, launch<kind_ps, kind_ss>, launch<kind_ps, kind_ps>,
                               launch<kind_pp, kind_ss>, launch<kind_pp, kind_ps>, launch<kind_pp, kind_pp>};

Status check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return Nothing{};
  return failed(std::string("the GPU failed at ") + what, std::string(cudaGetErrorString(error)),
                "use a variant without a GPU");
}

// An array of the GPU's memory.
template <class T>
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data_); }
  T* data() const { return data_; }
  Status resize(std::size_t size) {
    if (size <= size_) return Nothing{};
    cudaFree(data_);
    data_ = nullptr;
    size_ = 0;
    TRY(check(cudaMalloc(&data_, size * sizeof(T)), "an allocation"));
    size_ = size;
    return Nothing{};
  }
  Status assign(const std::vector<T>& values) {
    TRY(resize(values.size()));
    return check(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "a copy");
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

struct KindArrays {
  Array<Pair> pairs;
  Array<std::int32_t> begin_a, list_a, begin_b, list_b;
  std::int32_t count = 0;

  Status assign(const KindTables& tables) {
    count = static_cast<std::int32_t>(tables.pairs.size());
    TRY(pairs.assign(tables.pairs));
    TRY(begin_a.assign(tables.begin_a));
    TRY(list_a.assign(tables.list_a));
    TRY(begin_b.assign(tables.begin_b));
    return list_b.assign(tables.list_b);
  }
  Kind view() const { return {pairs.data(), count, begin_a.data(), list_a.data(), begin_b.data(), list_b.data()}; }
};

class CudaDevice final : public Device {
 public:
  CudaDevice(const Builder& builder, GpuWay way)
      : builder_(builder), way_(way), n_(builder.functions()), classes_(quartet_classes(false)),
        events_(classes_.size() + 1) {}
  ~CudaDevice() override {
    for (cudaEvent_t event : events_)
      if (event) cudaEventDestroy(event);
    if (stream_) cudaStreamDestroy(stream_);
  }

  Status prepare() {
    const Tables tables(builder_.pairs(), n_);
    for (int kind = 0; kind < 5; ++kind) TRY(kinds_[kind].assign(tables.kinds[kind]));
    TRY(numbers_.assign(tables.numbers));
    TRY(bounds_.assign(tables.bounds));
    TRY(shell_of_.assign(tables.shell_of));
    TRY(first_of_.assign(tables.first_of));
    TRY(boys_.assign({boys_table()}));
    TRY(check(cudaStreamCreate(&stream_), "a stream"));
    for (cudaEvent_t& event : events_) TRY(check(cudaEventCreate(&event), "an event"));
    return halves_.resize(2 * static_cast<std::size_t>(n_) * n_);
  }

  Status start(const Matrix& density, double threshold, std::span<const std::int64_t> units) override {
    const ScreenedDensity screened(density, builder_.pairs().shells());
    TRY(density_.assign(density.values));
    TRY(sums_.assign(screened.sums));
    TRY(check(cudaMemset(halves_.data(), 0, 2 * sizeof(double) * n_ * n_), "a memset"));
    bras_of_.assign(classes_.size(), {});
    for (const std::int64_t number : units) {
      const Unit& unit = builder_.units()[static_cast<std::size_t>(number)];
      for (std::size_t i = 0; i < unit.block->pairs.size(); ++i)
        bras_of_[unit.number].push_back(static_cast<std::int32_t>(unit.block->first + i));
    }
    TRY(check(cudaEventRecord(events_[0], stream_), "an event"));
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      TRY(start_class(c, threshold, screened.shells));
      TRY(check(cudaEventRecord(events_[c + 1], stream_), "an event"));
    }
    return check(cudaGetLastError(), "a launch");
  }

  Status finish(std::span<double> halves, std::span<double> class_seconds) override {
    TRY(check(cudaStreamSynchronize(stream_), "its kernels"));
    std::vector<double> mine(halves.size());
    TRY(check(cudaMemcpy(mine.data(), halves_.data(), halves.size() * sizeof(double), cudaMemcpyDeviceToHost),
              "a copy"));
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] += mine[i];
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      float milliseconds = 0;
      TRY(check(cudaEventElapsedTime(&milliseconds, events_[c], events_[c + 1]), "an event"));
      class_seconds[c] = bras_of_[c].empty() ? 0 : 1e-3 * milliseconds;
    }
    return Nothing{};
  }

 private:
  // Launches the class in chunks whose integrals fit chunk_bytes.
  Status start_class(std::size_t number, double threshold, int shells) {
    const QuartetClass& quartets = classes_[number];
    const std::vector<std::int32_t>& bras = bras_of_[number];
    const KindArrays& kets = kinds_[quartets.ket];
    if (bras.empty() || kets.count == 0) return Nothing{};
    const int functions = pair_kinds[quartets.bra].functions() * pair_kinds[quartets.ket].functions();
    const double of_bra = 8.0 * (functions + 1) * kets.count;
    const std::size_t most = way_ == GpuWay::atomics
                                 ? bras.size()
                                 : std::max<std::size_t>(1, static_cast<std::size_t>(chunk_bytes / of_bra));
    for (std::size_t begin = 0; begin < bras.size(); begin += most) {
      const std::size_t end = std::min(bras.size(), begin + most);
      const std::vector<std::int32_t> of_chunk(bras.begin() + begin, bras.begin() + end);
      std::vector<std::int32_t> place_of(static_cast<std::size_t>(kinds_[quartets.bra].count), -1);
      for (std::size_t i = 0; i < of_chunk.size(); ++i) place_of[of_chunk[i]] = static_cast<std::int32_t>(i);
      if (begin > 0) TRY(check(cudaStreamSynchronize(stream_), "its kernels")); // they read the last chunk's lists
      TRY(bras_[number].assign(of_chunk));
      TRY(place_of_[number].assign(place_of));
      if (way_ != GpuWay::atomics) {
        TRY(integrals_.resize(of_chunk.size() * kets.count * functions));
        TRY(weights_.resize(of_chunk.size() * kets.count));
      }
      Chunk chunk{kinds_[quartets.bra].view(), kets.view(), quartets.bra == quartets.ket};
      chunk.bras = bras_[number].data();
      chunk.place_of = place_of_[number].data();
      chunk.bra_count = static_cast<std::int32_t>(of_chunk.size());
      chunk.numbers = numbers_.data();
      chunk.bounds = bounds_.data();
      chunk.table = boys_.data();
      chunk.threshold = threshold;
      chunk.cutoff = builder_.settings().cutoff;
      chunk.density = density_.data();
      chunk.sums = sums_.data();
      chunk.n = n_;
      chunk.shells = shells;
      chunk.shell_of = shell_of_.data();
      chunk.first_of = first_of_.data();
      chunk.integrals = integrals_.data();
      chunk.weights = weights_.data();
      chunk.j = halves_.data();
      chunk.k = halves_.data() + static_cast<std::int64_t>(n_) * n_;
      launches[number](chunk, way_, stream_);
    }
    return Nothing{};
  }

  const Builder& builder_;
  GpuWay way_;
  int n_;
  std::vector<QuartetClass> classes_;
  std::vector<cudaEvent_t> events_;
  cudaStream_t stream_ = nullptr;
  std::array<KindArrays, 5> kinds_;
  Array<double> numbers_, bounds_, density_, sums_, halves_, integrals_, weights_;
  Array<std::int32_t> shell_of_, first_of_;
  Array<BoysTable> boys_;
  std::array<Array<std::int32_t>, 6> bras_, place_of_; // of each class
  std::vector<std::vector<std::int32_t>> bras_of_;
};

} // namespace
} // namespace cuda

Result<std::unique_ptr<Device>> make_cuda_device(const Builder& builder, GpuWay way) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
    return not_applicable("there is no GPU with CUDA here", {}, "use a variant without a GPU");
  auto device = std::make_unique<cuda::CudaDevice>(builder, way);
  TRY(device->prepare());
  return std::unique_ptr<Device>(std::move(device));
}

} // namespace kumihimo::hartree_fock::two_electron
