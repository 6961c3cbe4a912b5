// The two roofs of a roofline, measured with the threads and ranks of the run: STREAM's triad (J. McCalpin, 1995) and
// fused multiply-adds in registers.
#pragma once

#include "application/processes.hpp"

namespace kumihimo::application {

// Of all ranks together.
struct MachineRates {
  double triad_bytes_per_second = 0; // 24 bytes an element, as STREAM counts: no read of the lines that are written
  double peak_flops = 0;             // per second, float64
};

// Collective; under a second. `bytes`: of the three arrays of all ranks, several times the caches. Error: no memory.
Result<MachineRates> measure_rates(Processes& processes, std::int64_t bytes = std::int64_t{384} << 20);

} // namespace kumihimo::application
