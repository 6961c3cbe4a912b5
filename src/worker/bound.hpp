// What no algorithm over the memory of this machine can beat, for long vectors: the bytes that a collective must read
// and write, at the rate at which all ranks together copy data of that size.
//
// Every input is read once and every output written once, whatever the algorithm; ranks that reach into each other's
// memory can do with that. With P ranks and vectors of n bytes: an allreduce reads P of them and writes P, 2 P n; a
// reduce reads P and writes one, (P + 1) n; a bcast reads one and writes P - 1, P n. Copies in between, such as those
// of staging in shared memory, come on top.
#pragma once

#include "worker/job.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace kumihimo::worker {

// Bytes read and written per second by all ranks together, each copying an array of that size of its own; where they
// outnumber the processors, in turn.
struct CopyRate {
  std::int64_t bytes = 0;
  double bytes_per_second = 0;
};
// Collective. Error: not enough memory on some rank.
Result<std::vector<CopyRate>> measure_copy_rates(const Job& job);

// None below the smallest size measured, where latency rules, nor for one rank alone.
std::optional<double> bound_seconds(const Collective& collective, const std::vector<CopyRate>& rates);

} // namespace kumihimo::worker
