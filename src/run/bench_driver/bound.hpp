// A lower bound of a collective's time for long vectors in the memory of this machine: the bytes that it must read and
// write, at the rate at which all ranks together copy data of that size.
//
// Every algorithm reads each input and writes each output once; with single copies that is all. With P ranks and
// vectors of n bytes: an allreduce reads P of them and writes P, 2 P n; a reduce reads P and writes one, (P + 1) n; a
// bcast reads one and writes P - 1, P n. With blocks of n bytes: a gather or scatter 2 P n, an allgather or
// reduce_scatter P n and P P n, an alltoall 2 P P n; less what in place stays where it is. Among neighbours 2 n for
// each block of an alltoall, and for an allgather n for each and n for each rank that has somebody to tell. Copies in
// between, such as those of staging in shared memory, come on top.
#pragma once

#include "bench_driver/memory.hpp"
#include "mpi_job/job.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kumihimo::bench_driver {

using mpi_job::MpiJob;

// Bytes read and written per second by all ranks together, while each copies its own array of that size. Ranks that
// outnumber the processors take turns.
struct CopyRate {
  std::int64_t bytes = 0;
  double bytes_per_second = 0;
};
// The largest size measured; longer vectors use its rate.
inline constexpr std::int64_t longest_copied_bytes = std::int64_t{64} << 20;
// The sizes, ascending, that bounds of vectors of up to `longest_bytes` use.
std::vector<std::int64_t> copied_sizes(std::int64_t longest_bytes);
// The rates of these sizes. Collective. Error, with `advice`: no memory on some rank for two arrays of the largest.
Result<std::vector<CopyRate>> measure_copy_rates(const MpiJob& job, std::int64_t longest_bytes,
                                                 std::string_view advice = smaller_case);

// The bound, by the rate of arrays as long as the longest buffer. Nothing below the smallest size measured, where
// latency dominates, and for one rank alone.
std::optional<double> bound_seconds(const Collective& collective, const std::vector<CopyRate>& rates);

} // namespace kumihimo::bench_driver
