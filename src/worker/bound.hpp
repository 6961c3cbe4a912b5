// What no algorithm over the memory of this machine can beat, for long vectors: the bytes that a collective must read
// and write, at the rate at which all ranks together copy data of that size.
//
// With P ranks and vectors of n bytes: a reduction reads P vectors and writes one, (P + 1) n; handing the sum to the
// other P - 1 reads and writes n for each, 2 (P - 1) n; an allreduce is both, a bcast the second. Staging in shared
// memory, as all implementations without one address space do, comes on top.
#pragma once

#include "worker/job.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace kumihimo::worker {

// Bytes read and written per second by all ranks copying at once, by the size of each rank's array.
struct CopyRate {
  std::int64_t bytes = 0;
  double bytes_per_second = 0;
};
std::vector<CopyRate> measure_copy_rates(const Job& job);

// None below the smallest size measured, where latency rules.
std::optional<double> bound_seconds(const Collective& collective, const std::vector<CopyRate>& rates);

} // namespace kumihimo::worker
