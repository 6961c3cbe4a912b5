#include "machine_limits.hpp"

#include "measure/clock.hpp"
#include "threads/array.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <cstdint>
#include <utility>

namespace kumihimo::bench {
namespace {

// 12 chains hide the latency of the fused operation: two begin each cycle and take up to five.
constexpr int chains = 12;
constexpr std::int64_t repeats = 4'000'000;

template <class V>
inline __attribute__((always_inline)) double multiply_and_add() {
  V sums[chains];
  V factor = V{} + 0.999999, addend = V{} + 1e-7;
#pragma GCC unroll 12
  for (int i = 0; i < chains; ++i) sums[i] = V{} + i;
  for (std::int64_t k = 0; k < repeats; ++k)
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) sums[i] = sums[i] * factor + addend;
  double total = 0;
  for (int i = 0; i < chains; ++i) total += sums[i][0];
  return total;
}

#if defined(__x86_64__)
typedef double Two __attribute__((vector_size(16)));
typedef double Four __attribute__((vector_size(32)));
typedef double Eight __attribute__((vector_size(64)));
__attribute__((target("avx512f"))) double run_avx512() { return multiply_and_add<Eight>(); }
__attribute__((target("avx2,fma"))) double run_avx2() { return multiply_and_add<Four>(); }
double run_baseline() { return multiply_and_add<Two>(); }

std::pair<double (*)(), int> widest() {
  if (__builtin_cpu_supports("avx512f")) return {run_avx512, 8};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {run_avx2, 4};
  return {run_baseline, 2};
}
#else
typedef double Two __attribute__((vector_size(16)));
double run_baseline() { return multiply_and_add<Two>(); }
std::pair<double (*)(), int> widest() { return {run_baseline, 2}; }
#endif

void triad(double* a, const double* b, const double* c, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] + 3.0 * c[i];
}

} // namespace

double peak_flops() {
  const auto [run, width] = widest();
  const int team = threads::count();
  double total = 0;
  const std::int64_t start = measure::now_ns();
#pragma omp parallel for schedule(static) num_threads(team) reduction(+ : total)
  for (int i = 0; i < team; ++i) total += run();
  const auto seconds = measure::seconds_since(start);
  volatile double kept = total;
  (void)kept;
  return 2.0 * chains * width * static_cast<double>(repeats) * team / seconds;
}

struct Triad::Arrays {
  threads::ThreadedArray<double> a, b, c;
};

Triad::Triad(Arrays* arrays) : arrays_(arrays) {}
Triad::Triad(Triad&& other) noexcept : arrays_(std::exchange(other.arrays_, nullptr)) {}
Triad::~Triad() { delete arrays_; }

Result<Triad> Triad::make(long numbers) {
  Arrays arrays;
  arrays.a = TRY(threads::ThreadedArray<double>::zeros(numbers));
  arrays.b = TRY(threads::ThreadedArray<double>::zeros(numbers));
  arrays.c = TRY(threads::ThreadedArray<double>::zeros(numbers));
  return Triad(new Arrays(std::move(arrays)));
}

double Triad::bytes_per_second() {
  const int team = threads::count();
  const std::int64_t numbers = arrays_->a.size();
  double *const a = arrays_->a.data(), *const b = arrays_->b.data(), *const c = arrays_->c.data();
  const std::int64_t start = measure::now_ns();
#pragma omp parallel for schedule(static) num_threads(team)
  for (int i = 0; i < team; ++i) {
    const threads::IndexRange mine = threads::part(numbers, i, team);
    triad(a, b, c, mine.begin, mine.end);
  }
  return 24.0 * static_cast<double>(numbers) / measure::seconds_since(start);
}

} // namespace kumihimo::bench
