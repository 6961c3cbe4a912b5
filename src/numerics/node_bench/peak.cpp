#include "node_bench/peak.hpp"

#include "base/lanes.hpp"
#include "measure/clock.hpp"
#include "threads/team.hpp"

#include <omp.h>

#include <algorithm>

namespace kumihimo::node_bench {
namespace {

constexpr int chains = 12; // enough for latency 4 and two units; with the two factors they fit 16 registers
constexpr int times = 100'000;

// acc = acc * 0.999999 + 1e-6, in `chains` independent chains. Returns their sum, so that nothing is left out.
template <class Vector>
KUMIHIMO_INLINE double run_chains() {
  Vector acc[chains], factor = Vector{} + 0.999999, term = Vector{} + 1e-6;
  for (int i = 0; i < chains; ++i) acc[i] = Vector{} + static_cast<double>(i);
  for (int t = 0; t < times; ++t) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) acc[i] = acc[i] * factor + term;
  }
  double sum = 0;
  for (int i = 0; i < chains; ++i)
    for (std::size_t j = 0; j < sizeof(Vector) / 8; ++j) sum += acc[i][j];
  return sum;
}

double run_baseline() { return run_chains<Lanes<double, 2>>(); }
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) double run_fma() { return run_chains<Lanes<double, 4>>(); }
__attribute__((target("avx512f"))) double run_avx512() { return run_chains<Lanes<double, 8>>(); }
#endif

constexpr double flops_of_lane = 2.0 * chains * times;

bool has(const std::string& flags, const std::string& word) {
  return (" " + flags + " ").find(" " + word + " ") != std::string::npos;
}

} // namespace

PeakLoop widest_peak_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512f", &run_avx512, 8 * flops_of_lane};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"fma", &run_fma, 4 * flops_of_lane};
  return {"sse2", &run_baseline, 2 * flops_of_lane};
#else
  return {"vectors of 16 bytes", &run_baseline, 2 * flops_of_lane};
#endif
}

Result<PeakSamples> measure_peak(int threads, int rounds) {
  if (rounds < 1) return wrong_value("the peak must have at least 1 round", rounds);
  (void)TRY(threads::use(threads));
  threads::bind();
  const PeakLoop loop = widest_peak_loop();
  PeakSamples made{.instructions = loop.instructions, .gflops = {}};
  constexpr int calls = 8;
  double kept = 0;
  for (int round = -1; round < rounds; ++round) {
    const std::int64_t start = measure::now_ns();
#pragma omp parallel reduction(+ : kept)
    for (int i = 0; i < calls; ++i) kept += loop.run();
    const double seconds = measure::seconds_since(start);
    const double flops = loop.flops * calls * threads;
    if (round >= 0) made.gflops.push_back(flops / seconds * 1e-9);
  }
  if (!(kept > 0)) return failed("the loop of the peak gave a wrong result", std::to_string(kept));
  return made;
}

// AMD: Software Optimization Guides of families 17h, 19h, 1Ah. Intel: Optimization Reference Manual, section 2; models
// with AVX-512 have one or two units, which their numbers do not say, so that they are not known.
int flops_per_cycle(const std::string& vendor, int family, int model, const std::string& flags) {
  if (vendor == "AuthenticAMD") {
    if (family == 0x17) return model >= 0x30 ? 16 : 8; // Zen 2; Zen 1 halves vectors of 32 bytes
    if (family == 0x19) return 16;                     // Zen 3, 4: two units of 32 bytes
    if (family == 0x1a) return 0;                      // Zen 5: 16 or 32 by product
    return 0;
  }
  if (vendor == "GenuineIntel" && family == 6 && !has(flags, "avx512f") && has(flags, "fma")) return 16;
  return 0;
}

} // namespace kumihimo::node_bench
