#include "application/machine_rates.hpp"

#include "application/processor_clones.hpp"
#include "measure/clock.hpp"
#include "threads/array.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <algorithm>

namespace kumihimo::application {
namespace {

constexpr int repeats = 10;

KUMIHIMO_PROCESSOR_CLONES
void triad(const double* b, const double* c, double* a, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
}

constexpr std::int64_t rounds = 200'000;
constexpr int chains = 12; // independent, to hide the latency of an operation; all stay in registers

// A vector that is wider than the processor's registers lies in memory: the fastest width is the processor's.
#define KUMIHIMO_MULTIPLY_ADDS(name, lanes)                                                                            \
  KUMIHIMO_PROCESSOR_CLONES                                                                                            \
  double name(double start) {                                                                                          \
    using Lanes = double __attribute__((vector_size(8 * (lanes))));                                                    \
    Lanes chain[chains];                                                                                               \
    for (int i = 0; i < chains; ++i) chain[i] = Lanes{} + (start + i);                                                 \
    for (std::int64_t r = 0; r < rounds; ++r)                                                                          \
      _Pragma("GCC unroll 12") for (int i = 0; i < chains; ++i) chain[i] = chain[i] * 0.5 + 1.0;                       \
    double sum = 0;                                                                                                    \
    for (int i = 0; i < chains; ++i)                                                                                   \
      for (int lane = 0; lane < (lanes); ++lane) sum += chain[i][lane];                                                \
    return sum;                                                                                                        \
  }
KUMIHIMO_MULTIPLY_ADDS(multiply_adds_2, 2)
KUMIHIMO_MULTIPLY_ADDS(multiply_adds_4, 4)
KUMIHIMO_MULTIPLY_ADDS(multiply_adds_8, 8)
#undef KUMIHIMO_MULTIPLY_ADDS

// Seconds of the slowest rank, the best of some repeats, as other programs may disturb some.
template <class Work>
double best_seconds(Processes& processes, Work work) {
  double best = 0;
  for (int i = 0; i < repeats; ++i) {
    processes.barrier();
    const std::int64_t start = measure::now_ns();
    work();
    const double seconds = processes.largest({static_cast<double>(measure::now_ns() - start) * 1e-9})[0];
    if (i == 0 || seconds < best) best = seconds;
  }
  return best;
}

double peak_of(Processes& processes, double (*kernel)(double), int lanes) {
  const int team = threads::count();
  double sink = 0;
  const double seconds = best_seconds(processes, [&] {
#pragma omp parallel for schedule(static, 1) num_threads(team) reduction(+ : sink)
    for (int i = 0; i < team; ++i) sink += kernel(i);
  });
  // A sum of positive numbers: the compiler cannot leave the work out.
  const double flops = sink > 0 ? 2.0 * lanes * chains * static_cast<double>(rounds) * team : 0;
  return processes.total({flops})[0] / seconds;
}

} // namespace

Result<MachineRates> measure_rates(Processes& processes, std::int64_t bytes) {
  const std::int64_t n = bytes / 24 / processes.ranks();
  auto a = threads::Array<double>::zeros(n), b = threads::Array<double>::zeros(n), c = threads::Array<double>::zeros(n);
  for (const auto* array : {&a, &b, &c})
    if (Status s = processes.agree_on(*array); !s) return s.error();
  const int team = threads::count();
  const double seconds = best_seconds(processes, [&] {
#pragma omp parallel for schedule(static, 1) num_threads(team)
    for (int i = 0; i < team; ++i) {
      const threads::Range mine = threads::part(n, i, team);
      triad(b->data() + mine.begin, c->data() + mine.begin, a->data() + mine.begin, mine.size());
    }
  });
  MachineRates rates;
  rates.triad_bytes_per_second = processes.total({24.0 * static_cast<double>(n)})[0] / seconds;
  rates.peak_flops = std::max({peak_of(processes, multiply_adds_2, 2), peak_of(processes, multiply_adds_4, 4),
                               peak_of(processes, multiply_adds_8, 8)});
  return rates;
}

} // namespace kumihimo::application
