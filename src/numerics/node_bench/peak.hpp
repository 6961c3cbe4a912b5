// The peak of double-precision arithmetic: multiply-adds on vectors that stay in registers.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace kumihimo::node_bench {

// The loop of the peak for one thread, with the widest vectors of this processor.
struct PeakLoop {
  const char* instructions; // avx512f, fma, sse2, or vectors of the architecture
  double (*run)();          // a sum above 0, so that nothing is left out
  double flops;             // of a call
};
PeakLoop widest_peak_loop();

struct PeakSamples {
  std::string instructions;   // avx512f, fma, sse2, or vectors of the architecture
  std::vector<double> gflops; // of all threads together, a sample a round
};
// Errors: the number of threads or of rounds.
Result<PeakSamples> measure_peak(int threads, int rounds);

// Operations on doubles that a core can begin in a cycle; 0: not known for this processor. `family` and `model` as
// /proc/cpuinfo has them, `flags` with its words separated by blanks.
int flops_per_cycle(const std::string& vendor, int family, int model, const std::string& flags);

} // namespace kumihimo::node_bench
