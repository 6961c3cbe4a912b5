// The two roofs of a roofline, measured with the threads and ranks of the run by the loops of src/node_bench: STREAM's
// triad (J. McCalpin, 1995) with usual stores, and fused multiply-adds in registers.
#pragma once

#include "application/processes.hpp"

namespace kumihimo::application {

// Of all ranks together.
struct MachineRates {
  double triad_bytes_per_second = 0; // 24 bytes an element, as STREAM counts: no read of the lines that are written
  double peak_flops = 0;             // per second, float64
};

// Collective. `bytes`: of one of the three arrays of all ranks of a node; 0: that of STREAM, which no cache holds.
// Error: no memory.
Result<MachineRates> measure_rates(Processes& processes, std::int64_t bytes = 0);
// Of one array of this rank by this rule.
std::int64_t array_bytes_of_rank(const Processes& processes, std::int64_t bytes_of_node);

} // namespace kumihimo::application
