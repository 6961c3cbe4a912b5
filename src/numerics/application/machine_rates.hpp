// The two roofs of a roofline, measured with the threads and ranks of the run by the loops of src/numerics/node_bench:
// STREAM's triad (J. McCalpin, 1995) with usual stores, and fused multiply-adds in registers.
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
// Seconds from the first start on a node to the last end there, of the node where that is longest. `start` and `end` of
// this rank are by the clock of its node. The slowest rank's own time would be too short: ranks that share a processor
// take turns, each with all of it. Collective.
double span_of_node(Processes& processes, double start, double end);
// Of one array of this rank by this rule.
std::int64_t array_bytes_of_rank(const Processes& processes, std::int64_t bytes_of_node);

} // namespace kumihimo::application
