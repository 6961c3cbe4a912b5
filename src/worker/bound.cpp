#include "worker/bound.hpp"

#include "kernels/copy.hpp"
#include "measure/clock.hpp"

#include <algorithm>
#include <cstring>

namespace kumihimo::worker {
namespace {

constexpr std::int64_t smallest_bytes = 4096;
constexpr int repeats = 5;
constexpr double long_enough = 10e-3; // seconds, beside which two barriers are nothing

struct Arrays {
  std::vector<std::byte> from, to;
};

// Seconds until all ranks have copied `times` times, from before the first one begins to after the last one ends: where
// ranks outnumber processors they take turns, and no rank's own seconds are those of all.
double seconds_of_all(const Job& job, Arrays& arrays, std::int64_t bytes, std::int64_t times) {
  job.barrier(); // so that the next one does not wait for what was before
  const std::int64_t start = measure::now_ns();
  job.barrier();
  for (std::int64_t i = 0; i < times; ++i) kernels::copy(arrays.from.data(), arrays.to.data(), bytes);
  job.barrier();
  return job.largest({static_cast<double>(measure::now_ns() - start) * 1e-9})[0];
}

// The best of the repeats, as what else runs here is no figure of the machine.
CopyRate rate_of(const Job& job, Arrays& arrays, std::int64_t bytes) {
  std::int64_t times = 1;
  while (seconds_of_all(job, arrays, bytes, times) < long_enough) times *= 2;
  double seconds = seconds_of_all(job, arrays, bytes, times);
  for (int i = 1; i < repeats; ++i) seconds = std::min(seconds, seconds_of_all(job, arrays, bytes, times));
  return {bytes, 2.0 * static_cast<double>(bytes) * static_cast<double>(times) * job.ranks() / seconds};
}

// Inputs read and outputs written, in vectors.
double vectors_moved(const Collective& c) {
  switch (c.kind) {
  case CollectiveKind::reduce:
    return c.ranks + 1;
  case CollectiveKind::bcast:
    return c.ranks;
  default:
    return 2.0 * c.ranks;
  }
}

} // namespace

std::vector<std::int64_t> copied_sizes(std::int64_t longest_bytes) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = smallest_bytes; bytes <= std::min(longest_bytes, longest_copied_bytes); bytes *= 4)
    sizes.push_back(bytes);
  return sizes;
}

Result<std::vector<CopyRate>> measure_copy_rates(const Job& job, std::int64_t longest_bytes, std::string_view advice) {
  const std::vector<std::int64_t> sizes = copied_sizes(longest_bytes);
  if (sizes.empty()) return std::vector<CopyRate>();
  Arrays arrays;
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
  const std::int64_t n = c.bytes().value;
  if (c.ranks < 2 || rates.empty() || n < rates.front().bytes) return std::nullopt;
  double rate = rates.front().bytes_per_second;
  for (const CopyRate& r : rates)
    if (r.bytes <= n) rate = r.bytes_per_second;
  return vectors_moved(c) * static_cast<double>(n) / rate;
}

} // namespace kumihimo::worker
