#include "worker/bound.hpp"

#include "kernels/copy.hpp"
#include "measure/clock.hpp"

#include <algorithm>
#include <cstring>

namespace kumihimo::worker {
namespace {

constexpr std::int64_t smallest_bytes = 4096, largest_bytes = std::int64_t{64} << 20;
constexpr int repeats = 5;

// Seconds of one copy by this rank, while the others copy too.
double copy_once(const Job& job, std::vector<std::byte>& from, std::vector<std::byte>& to, std::int64_t bytes) {
  const std::int64_t times = std::max<std::int64_t>(1, (std::int64_t{1} << 20) / bytes);
  job.barrier();
  const std::int64_t start = measure::now_ns();
  for (std::int64_t i = 0; i < times; ++i) kernels::copy(from.data(), to.data(), bytes);
  return static_cast<double>(measure::now_ns() - start) * 1e-9 / static_cast<double>(times);
}

} // namespace

std::vector<CopyRate> measure_copy_rates(const Job& job) {
  std::vector<std::byte> from(static_cast<std::size_t>(largest_bytes), std::byte{1});
  std::vector<std::byte> to(from.size(), std::byte{2});
  std::vector<CopyRate> rates;
  for (std::int64_t bytes = smallest_bytes; bytes <= largest_bytes; bytes *= 4) {
    double best = 0;
    for (int i = 0; i < repeats; ++i) {
      const double slowest = job.largest({copy_once(job, from, to, bytes)})[0];
      best = std::max(best, 2.0 * static_cast<double>(bytes) * job.ranks() / slowest);
    }
    rates.push_back({bytes, best});
  }
  return rates;
}

std::optional<double> bound_seconds(const Collective& c, const std::vector<CopyRate>& rates) {
  const std::int64_t n = c.bytes().value;
  if (rates.empty() || n < rates.front().bytes) return std::nullopt;
  const double P = c.ranks;
  double moved = 0;
  if (c.kind == CollectiveKind::allreduce || c.kind == CollectiveKind::reduce) moved += P + 1;
  if (c.kind == CollectiveKind::allreduce || c.kind == CollectiveKind::bcast) moved += 2 * (P - 1);
  double rate = rates.front().bytes_per_second;
  for (const CopyRate& r : rates)
    if (r.bytes <= n) rate = r.bytes_per_second;
  return moved * static_cast<double>(n) / rate;
}

} // namespace kumihimo::worker
