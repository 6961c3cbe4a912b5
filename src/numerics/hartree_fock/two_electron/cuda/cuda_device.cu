// Units of a builder on a GPU: one kernel for each class and way (chunk.hpp). Chunks of quartets run one after the
// other in a stream, while the caller computes its own units. So start() allocates nothing, copies all that the kernels
// of a build read before it launches the first, and waits for none: memory is taken once, for the largest chunk, and
// the stream does not synchronise with the default one. A driver queues a limited number of launches, so chunks are
// large.
#include "hartree_fock/two_electron/cuda/cuda_device.hpp"
#include "hartree_fock/two_electron/cuda/tables.hpp"
#include "hartree_fock/two_electron/density.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <string>
#include <utility>

namespace kumihimo::hartree_fock::two_electron {
namespace cuda {
namespace {

constexpr int block = 64; // threads; half_size doubles each fit 48 KiB of shared memory
// Of integrals, and as many at most of weights; or an eighth of the free memory of the GPU.
constexpr double chunk_bytes = 4e9;
constexpr double chunk_quartets = 1e9; // of atomic additions, which store none

struct AtomicAdd {
  __device__ void operator()(double* to, double value) const { atomicAdd(to, value); }
};

__device__ std::int64_t thread_number() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

// Adds what the threads of a warp did; all of them call it.
__device__ void count(QuartetCounts* counts, const QuartetWork& work) {
  constexpr unsigned all = 0xffffffff;
  const int computed = __popc(__ballot_sync(all, work.is_computed));
  const int screened = __popc(__ballot_sync(all, work.is_screened));
  int primitives = work.primitives;
  for (int half = 16; half > 0; half /= 2) primitives += __shfl_down_sync(all, primitives, half);
  if (threadIdx.x % 32 != 0) return;
  if (screened > 0) atomicAdd(&counts->screened, static_cast<unsigned long long>(screened));
  if (computed == 0) return;
  atomicAdd(&counts->quartets, static_cast<unsigned long long>(computed));
  atomicAdd(&counts->primitives, static_cast<unsigned long long>(primitives));
}

template <int Bra, int Ket>
__global__ void add_quartets(QuartetChunk chunk) {
  double half[half_size<Bra, Ket>];
  QuartetWork work;
  if (thread_number() < chunk.quartets()) work = add_quartet<Bra, Ket>(chunk, thread_number(), half, 1, AtomicAdd{});
  count(chunk.counts, work);
}
template <int Bra, int Ket>
__global__ void store_quartets(QuartetChunk chunk) {
  double half[half_size<Bra, Ket>];
  QuartetWork work;
  if (thread_number() < chunk.quartets()) work = store_quartet<Bra, Ket>(chunk, thread_number(), half, 1);
  count(chunk.counts, work);
}
template <int Bra, int Ket>
__global__ void store_quartets_shared(QuartetChunk chunk) {
  __shared__ double half[half_size<Bra, Ket> * block];
  QuartetWork work;
  if (thread_number() < chunk.quartets())
    work = store_quartet<Bra, Ket>(chunk, thread_number(), half + threadIdx.x, block);
  count(chunk.counts, work);
}
template <int Bra, int Ket>
__global__ void gather_bra_coulombs(QuartetChunk chunk) {
  if (thread_number() < static_cast<std::int64_t>(chunk.bra_count) * pair_kinds[Bra].functions())
    gather_bra_coulomb<Bra, Ket>(chunk, thread_number());
}
template <int Bra, int Ket>
__global__ void gather_ket_coulombs(QuartetChunk chunk) {
  if (thread_number() < static_cast<std::int64_t>(chunk.ket.count) * pair_kinds[Ket].functions())
    gather_ket_coulomb<Bra, Ket>(chunk, thread_number());
}
template <int Bra, int Ket>
__global__ void gather_exchanges(QuartetChunk chunk) {
  if (thread_number() < static_cast<std::int64_t>(chunk.n) * chunk.n) gather_exchange<Bra, Ket>(chunk, thread_number());
}

// Fits 31 bits, as grids must: the quartets of a chunk, pairs times functions, and elements of a matrix all do.
unsigned blocks(std::int64_t threads) { return static_cast<unsigned>((threads + block - 1) / block); }

template <int Bra, int Ket>
void launch(const QuartetChunk& chunk, GpuWay way, cudaStream_t stream) {
  const std::int64_t quartets = chunk.quartets();
  if (way == GpuWay::atomics) {
    add_quartets<Bra, Ket><<<blocks(quartets), block, 0, stream>>>(chunk);
    return;
  }
  if (way == GpuWay::stored)
    store_quartets<Bra, Ket><<<blocks(quartets), block, 0, stream>>>(chunk);
  else
    store_quartets_shared<Bra, Ket><<<blocks(quartets), block, 0, stream>>>(chunk);
  const std::int64_t bras = static_cast<std::int64_t>(chunk.bra_count) * pair_kinds[Bra].functions();
  const std::int64_t kets = static_cast<std::int64_t>(chunk.ket.count) * pair_kinds[Ket].functions();
  const std::int64_t elements = static_cast<std::int64_t>(chunk.n) * chunk.n;
  gather_bra_coulombs<Bra, Ket><<<blocks(bras), block, 0, stream>>>(chunk);
  gather_ket_coulombs<Bra, Ket><<<blocks(kets), block, 0, stream>>>(chunk);
  gather_exchanges<Bra, Ket><<<blocks(elements), block, 0, stream>>>(chunk);
}

using Launch = void (*)(const QuartetChunk&, GpuWay, cudaStream_t);
constexpr Launch launches[] = {launch<kind_ss, kind_ss>, launch<kind_ps, kind_ss>, launch<kind_ps, kind_ps>,
                               launch<kind_pp, kind_ss>, launch<kind_pp, kind_ps>, launch<kind_pp, kind_pp>};

// The error of a call. It is cleared, so that the next cudaGetLastError() tells of later calls alone.
Status check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return Nothing{};
  cudaGetLastError();
  return failed(std::string("the GPU failed at ") + what, std::string(cudaGetErrorString(error)),
                "use a variant without a GPU");
}

// An array of the GPU's memory.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* data() const { return data_; }
  // Once, before it is used.
  Status allocate(std::size_t size) {
    if (size == 0) return Nothing{};
    return check(cudaMalloc(&data_, size * sizeof(T)), "an allocation");
  }
  // In the stream; `values` stays as it is until the stream has done it.
  Status copy(std::span<const T> values, cudaStream_t stream) {
    if (values.empty()) return Nothing{};
    return check(cudaMemcpyAsync(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream), "a copy");
  }
  Status assign(std::span<const T> values, cudaStream_t stream) {
    TRY(allocate(values.size()));
    return copy(values, stream);
  }

 private:
  T* data_ = nullptr;
};

struct KindArrays {
  DeviceArray<DevicePair> pairs;
  DeviceArray<std::int32_t> begin_a, list_a, begin_b, list_b;
  std::int32_t count = 0;

  Status assign(const KindTables& tables, cudaStream_t stream) {
    count = static_cast<std::int32_t>(tables.pairs.size());
    TRY(pairs.assign(tables.pairs, stream));
    TRY(begin_a.assign(tables.begin_a, stream));
    TRY(list_a.assign(tables.list_a, stream));
    TRY(begin_b.assign(tables.begin_b, stream));
    return list_b.assign(tables.list_b, stream);
  }
  DevicePairKind view() const {
    return {pairs.data(), count, begin_a.data(), list_a.data(), begin_b.data(), list_b.data()};
  }
};

// The bra pairs of a class, in the list of all classes.
struct ClassList {
  std::size_t begin = 0;     // of the places of its bra pairs; then the place of each pair of the kind
  std::int32_t bras = 0;     // in this build
  std::int32_t of_chunk = 1; // bra pairs of a chunk at most
};

class CudaDevice final : public Device {
 public:
  CudaDevice(const TwoElectronBuilder& builder, GpuWay way)
      : builder_(builder), way_(way), n_(builder.functions()), classes_(quartet_classes(false)),
        events_(classes_.size() + 1), lists_of_(classes_.size()) {}
  ~CudaDevice() override {
    if (stream_) cudaStreamSynchronize(stream_); // it may read this object's lists
    for (cudaEvent_t event : events_)
      if (event) cudaEventDestroy(event);
    if (stream_) cudaStreamDestroy(stream_);
  }

  Status prepare() {
    TRY(check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream"));
    for (cudaEvent_t& event : events_) TRY(check(cudaEventCreate(&event), "an event"));
    const Tables tables(builder_.pairs(), n_);
    for (int kind = 0; kind < 5; ++kind) TRY(kinds_[kind].assign(tables.kinds[kind], stream_));
    TRY(numbers_.assign(tables.numbers, stream_));
    TRY(bounds_.assign(tables.bounds, stream_));
    TRY(shell_of_.assign(tables.shell_of, stream_));
    TRY(first_of_.assign(tables.first_of, stream_));
    TRY(boys_.assign({&boys_table(), 1}, stream_));
    const std::size_t elements = static_cast<std::size_t>(n_) * n_, shells = builder_.pairs().shells().size();
    TRY(density_.allocate(elements));
    TRY(sums_.allocate(shells * shells));
    TRY(halves_.allocate(2 * elements));
    TRY(counts_.allocate(classes_.size()));
    TRY(allocate_chunks());
    return check(cudaStreamSynchronize(stream_), "a copy"); // `tables` ends here
  }

  Status start(const Matrix& density, double threshold, std::span<const std::int64_t> units) override {
    ScreenedDensity screened(density, builder_.pairs().shells());
    screened_sums_ = std::move(screened.sums);
    list(units);
    TRY(density_.copy(density.values, stream_));
    TRY(sums_.copy(screened_sums_, stream_));
    TRY(lists_.copy(host_lists_, stream_));
    TRY(check(cudaMemsetAsync(halves_.data(), 0, 2 * sizeof(double) * n_ * n_, stream_), "a memset"));
    TRY(check(cudaMemsetAsync(counts_.data(), 0, classes_.size() * sizeof(QuartetCounts), stream_), "a memset"));
    TRY(check(cudaEventRecord(events_[0], stream_), "an event"));
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      TRY(start_class(c, threshold, screened.shells));
      TRY(check(cudaEventRecord(events_[c + 1], stream_), "an event"));
    }
    return Nothing{};
  }

  Status finish(std::span<double> halves, std::span<Tally> of_class) override {
    std::vector<double> mine(halves.size());
    std::vector<QuartetCounts> counts(classes_.size());
    TRY(check(cudaStreamSynchronize(stream_), "its kernels"));
    TRY(fetch(std::span(mine), halves_));
    TRY(fetch(std::span(counts), counts_));
    TRY(check(cudaStreamSynchronize(stream_), "a copy"));
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] += mine[i];
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      float milliseconds = 0;
      TRY(check(cudaEventElapsedTime(&milliseconds, events_[c], events_[c + 1]), "an event"));
      Tally& tally = of_class[c] = {};
      tally.quartets = static_cast<std::int64_t>(counts[c].quartets);
      tally.screened = static_cast<std::int64_t>(counts[c].screened);
      tally.primitives = static_cast<std::int64_t>(counts[c].primitives);
      if (lists_of_[c].bras > 0) tally.nanoseconds = static_cast<std::int64_t>(1e6 * milliseconds);
    }
    return Nothing{};
  }

 private:
  // Lists of all bra pairs, and integrals and weights of the largest chunk that any units may need.
  Status allocate_chunks() {
    std::size_t places = 0, integrals = 0, weights = 0, free = 0, total = 0;
    TRY(check(cudaMemGetInfo(&free, &total), "a look at its memory"));
    const double bytes = std::min(chunk_bytes, static_cast<double>(free) / 8);
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const std::int32_t bras = kinds_[classes_[c].bra].count, kets = kinds_[classes_[c].ket].count;
      ClassList& of = lists_of_[c];
      of.begin = places;
      places += 2 * static_cast<std::size_t>(bras);
      if (bras == 0 || kets == 0) continue;
      const int functions = pair_kinds[classes_[c].bra].functions() * pair_kinds[classes_[c].ket].functions();
      const double most = way_ == GpuWay::atomics ? chunk_quartets / kets : bytes / (8.0 * (functions + 1) * kets);
      of.of_chunk = static_cast<std::int32_t>(std::clamp<double>(most, 1, bras));
      if (way_ == GpuWay::atomics) continue;
      const std::size_t quartets = static_cast<std::size_t>(of.of_chunk) * kets;
      integrals = std::max(integrals, quartets * functions);
      weights = std::max(weights, quartets);
    }
    host_lists_.resize(places);
    TRY(lists_.allocate(places));
    TRY(integrals_.allocate(integrals));
    return weights_.allocate(weights);
  }

  // Bra pairs of the units, by class.
  void list(std::span<const std::int64_t> units) {
    std::ranges::fill(host_lists_, -1);
    for (ClassList& each : lists_of_) each.bras = 0;
    for (const std::int64_t number : units) {
      const QuartetUnit& unit = builder_.units()[static_cast<std::size_t>(number)];
      ClassList& of = lists_of_[static_cast<std::size_t>(unit.number)];
      std::int32_t* const bras = host_lists_.data() + of.begin;
      std::int32_t* const place_of = bras + kinds_[unit.quartets.bra].count;
      for (std::size_t i = 0; i < unit.block->pairs.size(); ++i) {
        const auto pair = static_cast<std::int32_t>(unit.block->first + static_cast<std::int64_t>(i));
        place_of[pair] = of.bras;
        bras[of.bras++] = pair;
      }
    }
  }

  Status start_class(std::size_t number, double threshold, int shells) {
    const QuartetClass& quartets = classes_[number];
    const KindArrays &bras = kinds_[quartets.bra], &kets = kinds_[quartets.ket];
    const ClassList& of = lists_of_[number];
    if (kets.count == 0) return Nothing{};
    QuartetChunk chunk{bras.view(), kets.view(), quartets.bra == quartets.ket};
    chunk.place_of = lists_.data() + of.begin + bras.count;
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
    chunk.counts = counts_.data() + number;
    for (chunk.first = 0; chunk.first < of.bras; chunk.first += chunk.bra_count) {
      chunk.bras = lists_.data() + of.begin + chunk.first;
      chunk.bra_count = std::min(of.of_chunk, of.bras - chunk.first);
      launches[number](chunk, way_, stream_);
      TRY(check(cudaGetLastError(), "a launch"));
    }
    return Nothing{};
  }

  template <class T>
  Status fetch(std::span<T> to, const DeviceArray<T>& from) {
    return check(cudaMemcpyAsync(to.data(), from.data(), to.size_bytes(), cudaMemcpyDeviceToHost, stream_), "a copy");
  }

  const TwoElectronBuilder& builder_;
  GpuWay way_;
  int n_;
  std::vector<QuartetClass> classes_;
  std::vector<cudaEvent_t> events_;
  cudaStream_t stream_ = nullptr;
  std::array<KindArrays, 5> kinds_;
  DeviceArray<double> numbers_, bounds_, density_, sums_, halves_, integrals_, weights_;
  DeviceArray<std::int32_t> shell_of_, first_of_, lists_;
  DeviceArray<BoysTable> boys_;
  DeviceArray<QuartetCounts> counts_;
  std::vector<ClassList> lists_of_;
  std::vector<std::int32_t> host_lists_; // that the stream copies, as screened_sums_
  std::vector<double> screened_sums_;
};

} // namespace
} // namespace cuda

Result<std::unique_ptr<Device>> make_cuda_device(const TwoElectronBuilder& builder, GpuWay way, int rank_on_node) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    cudaGetLastError();
    return not_applicable("there is no GPU with CUDA here", {}, "use a variant without a GPU");
  }
  TRY(cuda::check(cudaSetDevice(rank_on_node % count), "the choice of a device"));
  auto device = std::make_unique<cuda::CudaDevice>(builder, way);
  TRY(device->prepare());
  return std::unique_ptr<Device>(std::move(device));
}

} // namespace kumihimo::hartree_fock::two_electron
