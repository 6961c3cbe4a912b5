// Bandwidth of the reduction and copy loops by level and size, beside what was measured in the same run to judge them:
// memcpy, and the rate at which memory beyond the caches can be read (`read_bound`). Bandwidth counts the bytes that
// the loop names (operands and target), not the lines that plain stores read; the difference is what streaming saves.
//
//   kernels_bench --benchmark_repetitions=9 --benchmark_report_aggregates_only=true
#include "kernels/copy.hpp"
#include "kernels/reduce.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace kumihimo::kernels {
namespace {

// In each cache of a usual processor, and beyond all of them.
constexpr std::array<std::int64_t, 6> sizes = {16 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20};

// Aligned to cache lines and touched, so that no page fault is measured.
struct Array {
  explicit Array(std::int64_t bytes)
      : data(static_cast<double*>(std::aligned_alloc(4096, static_cast<std::size_t>(bytes)))) {
    for (std::int64_t i = 0; i < bytes / 8; ++i) data.get()[i] = 1.0 / static_cast<double>(i + 1);
  }
  struct Free {
    void operator()(double* p) const { std::free(p); }
  };
  std::unique_ptr<double, Free> data;
  double* get() const { return data.get(); }
};

void report_rate(benchmark::State& state, std::int64_t bytes_named) {
  state.SetBytesProcessed(state.iterations() * bytes_named);
}

struct ReduceCase {
  ReduceKernel kernel;
  DataType type;
  bool in_place;
};

void run_reduce(benchmark::State& state, ReduceCase c) {
  const std::int64_t bytes = state.range(0), count = bytes / size_of(c.type);
  const Array left(bytes), right(bytes), target(bytes);
  double* to = c.in_place ? left.get() : target.get();
  if (c.in_place) std::memset(left.get(), 0, static_cast<std::size_t>(bytes)); // or sums of sums run into infinity
  for (auto _ : state) {
    c.kernel(left.get(), right.get(), to, count);
    benchmark::ClobberMemory();
  }
  report_rate(state, 3 * bytes);
}

// The least that a reduction must do is to read two of the three streams that its bandwidth counts. A bound beyond the
// caches only: within them, the baseline's instructions limit this loop before the cache does.
void run_read_bound(benchmark::State& state) {
  const std::int64_t bytes = state.range(0), count = bytes / 8;
  const Array array(bytes);
  typedef std::int64_t Lanes __attribute__((vector_size(16)));
  const auto lanes = [&](std::int64_t at) {
    Lanes x;
    std::memcpy(&x, array.get() + at, sizeof x);
    return x;
  };
  for (auto _ : state) {
    Lanes a{}, b{}, c{}, d{};
    for (std::int64_t i = 0; i < count; i += 8) a ^= lanes(i), b ^= lanes(i + 2), c ^= lanes(i + 4), d ^= lanes(i + 6);
    Lanes all = a ^ b ^ c ^ d;
    benchmark::DoNotOptimize(all);
  }
  report_rate(state, bytes);
}

void run_copy(benchmark::State& state, void (*copy_loop)(const void*, void*, std::int64_t)) {
  const std::int64_t bytes = state.range(0);
  const Array source(bytes), target(bytes);
  for (auto _ : state) {
    copy_loop(source.get(), target.get(), bytes);
    benchmark::ClobberMemory();
  }
  report_rate(state, 2 * bytes);
}

void plain_copy(const void* source, void* target, std::int64_t bytes) {
  std::memcpy(target, source, static_cast<std::size_t>(bytes));
}

template <class Function, class... Arguments>
void add(const std::string& name, Function function, Arguments... arguments) {
  auto* benchmark = benchmark::RegisterBenchmark(name.c_str(), function, arguments...);
  for (std::int64_t bytes : sizes) benchmark->Arg(bytes);
}

void add_reductions(DataType type, Operation op) {
  const std::string what = std::string(name_of(op)) + "/" + std::string(name_of(type)) + "/";
  const auto both = [&](const std::string& level, ReduceKernel kernel) {
    add(what + level + "/distinct", run_reduce, ReduceCase{kernel, type, false});
    add(what + level + "/in_place", run_reduce, ReduceCase{kernel, type, true});
  };
  both("reference", reference_reduce_kernel(type, op));
  for (Level level : levels)
    if (is_supported(level)) both(std::string(name_of(level)), find_reduce_kernel(type, op, level));
}

} // namespace
} // namespace kumihimo::kernels

int main(int argc, char** argv) {
  using namespace kumihimo;
  using namespace kumihimo::kernels;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("active_level", std::string(name_of(active_level())));
  benchmark::AddCustomContext("streaming_threshold_bytes", std::to_string(streaming_threshold_bytes()));
  benchmark::RegisterBenchmark("read_bound", run_read_bound)->Arg(sizes.back());
  add("copy/memcpy", run_copy, plain_copy);
  add("copy/by_size", run_copy, &copy);
  add("copy/streaming", run_copy, copy_streaming);
  for (Operation op : {Operation::sum, Operation::max}) add_reductions(DataType::float64, op);
  add_reductions(DataType::float32, Operation::sum);
  add_reductions(DataType::int32, Operation::sum);
  add_reductions(DataType::uint8, Operation::sum);
  benchmark::RunSpecifiedBenchmarks();
}
