#include "bench_driver/bound.hpp"

#include "bench_driver/memory.hpp"
#include "kernels/plans.hpp"
#include "measure/clock.hpp"
#include "schedule/data.hpp"

#include <algorithm>
#include <cstring>

namespace kumihimo::bench_driver {
namespace {

constexpr std::int64_t smallest_bytes = 4096;
constexpr int repeats = 5;
constexpr double long_enough = 10e-3; // seconds, beside which two barriers are nothing

struct CopyArrays {
  std::vector<std::byte> from, to;
};

// Seconds until all ranks have copied `times` times, from before the first one begins to after the last one ends: where
// ranks outnumber processors they take turns, and no rank's own seconds are those of all.
double seconds_of_all(const MpiJob& job, CopyArrays& arrays, std::int64_t bytes, std::int64_t times) {
  job.barrier(); // so that the next one does not wait for what was before
  const std::int64_t start = measure::now_ns();
  job.barrier();
  const kernels::CopyPlan& copy = kernels::copy_plan(kernels::CopyReader::same_core);
  for (std::int64_t i = 0; i < times; ++i) copy(arrays.from.data(), arrays.to.data(), bytes);
  job.barrier();
  return job.largest({measure::seconds_since(start)})[0];
}

// The best of the repeats, as what else runs here is no figure of the machine.
CopyRate rate_of(const MpiJob& job, CopyArrays& arrays, std::int64_t bytes) {
  std::int64_t times = 1;
  while (seconds_of_all(job, arrays, bytes, times) < long_enough) times *= 2;
  double seconds = seconds_of_all(job, arrays, bytes, times);
  for (int i = 1; i < repeats; ++i) seconds = std::min(seconds, seconds_of_all(job, arrays, bytes, times));
  return {bytes, 2.0 * static_cast<double>(bytes) * static_cast<double>(times) * job.ranks() / seconds};
}

// Of a rank's output, what in place is there already.
std::int64_t kept_in_output(const Collective& c, Rank rank, const CallMemory& memory) {
  if (!memory.aliased || c.reduces()) return 0;
  for (const Contribution& part : contributions(c, rank))
    if (part.low == rank.value) return part.count * c.type_bytes;
  return 0;
}

// Of a rank's input, what nobody else has a use for.
std::int64_t kept_in_input(const Collective& c, Rank rank, const CallMemory& memory) {
  const bool others_want_it = c.kind->output.whose == WhichRanks::all && !c.kind->sends_to_each();
  return others_want_it ? 0 : kept_in_output(c, rank, memory);
}

// Blocks where there is no neighbour are in the buffers and stay as they are. An allgather's block is read once for all
// who want it.
std::int64_t bytes_moved_by_neighbours(const Collective& c) {
  std::vector<bool> is_read(static_cast<std::size_t>(c.ranks));
  std::int64_t elements = 0;
  for (std::int32_t r = 0; r < c.ranks; ++r)
    for (const Contribution& part : contributions(c, Rank{r})) {
      if (part.is_nobody()) continue;
      const auto from = static_cast<std::size_t>(part.low);
      const bool again = !c.kind->sends_to_each() && is_read[from];
      elements += again ? part.count : 2 * part.count;
      is_read[from] = true;
    }
  return elements * c.type_bytes;
}

// Inputs read and outputs written, of all ranks.
std::int64_t bytes_moved(const Collective& c) {
  if (c.neighbours) return bytes_moved_by_neighbours(c);
  std::int64_t bytes = 0;
  for (std::int32_t r = 0; r < c.ranks; ++r) {
    const CallMemory memory = memory_of(c, Rank{r});
    bytes += memory.input_bytes + memory.result_bytes - kept_in_output(c, Rank{r}, memory) -
             kept_in_input(c, Rank{r}, memory);
  }
  return bytes;
}

} // namespace

std::vector<std::int64_t> copied_sizes(std::int64_t longest_bytes) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = smallest_bytes; bytes <= std::min(longest_bytes, longest_copied_bytes); bytes *= 4)
    sizes.push_back(bytes);
  return sizes;
}

Result<std::vector<CopyRate>> measure_copy_rates(const MpiJob& job, std::int64_t longest_bytes,
                                                 std::string_view advice) {
  const std::vector<std::int64_t> sizes = copied_sizes(longest_bytes);
  if (sizes.empty()) return std::vector<CopyRate>();
  CopyArrays arrays;
  const Need need{2 * sizes.back(), "the arrays that the rate of copying is measured with", advice};
  const Status has_memory = with_memory(need, [&] {
    arrays.from.assign(static_cast<std::size_t>(sizes.back()), std::byte{1});
    arrays.to.assign(arrays.from.size(), std::byte{2});
    return Nothing{};
  });
  if (Status s = job.agree(has_memory); !s) return s.error();
  std::vector<CopyRate> rates;
  for (const std::int64_t bytes : sizes) rates.push_back(rate_of(job, arrays, bytes));
  return rates;
}

std::optional<double> bound_seconds(const Collective& c, const std::vector<CopyRate>& rates) {
  const std::int64_t n = longest_buffer_bytes(c);
  if (c.ranks < 2 || rates.empty() || n < rates.front().bytes) return std::nullopt;
  double rate = rates.front().bytes_per_second;
  for (const CopyRate& r : rates)
    if (r.bytes <= n) rate = r.bytes_per_second;
  return static_cast<double>(bytes_moved(c)) / rate;
}

} // namespace kumihimo::bench_driver
