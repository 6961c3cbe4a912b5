// Noise of the operating system: events that take the processor away from a rank, periodic, with a random phase for
// each rank. T. Hoefler, T. Schneider, A. Lumsdaine, Characterizing the Influence of System Noise on Large-Scale
// Applications by Simulation, SC10.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>

namespace kumihimo {

struct Noise {
  double events_per_second = 0;     // of a rank; 0: none
  double seconds = 0;               // of an event
  std::uint64_t seed = 1;           // the same seed: the same phases
  std::optional<std::int32_t> rank; // the only one with noise; without: all
};

// Error: a number that is negative or not finite; events that leave a rank less than a tenth of its time.
Status check(const Noise& noise);

// How much longer work takes that starts at `start` and needs the processor for `seconds`. Events start at
// noise_phase() and whole periods before and after it.
double seconds_lost(const Noise& noise, std::int32_t rank, double start, double seconds);

// In [0, 1 / events_per_second).
double noise_phase(const Noise& noise, std::int32_t rank);

} // namespace kumihimo
