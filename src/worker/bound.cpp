#include "worker/bound.hpp"

#include "kernels/copy.hpp"
#include "measure/clock.hpp"
#include "worker/memory.hpp"

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

Result<std::vector<CopyRate>> measure_copy_rates(const Job& job) {
  std::vector<std::byte> from, to;
  const Status has_memory =
      with_memory({2 * largest_bytes, "the arrays that the rate of copying is measured with"}, [&] {
        from.assign(static_cast<std::size_t>(largest_bytes), std::byte{1});
        to.assign(from.size(), std::byte{2});
        return Nothing{};
      });
  if (Status s = job.agree(has_memory); !s) return s.error();
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
  if (c.ranks < 2 || rates.empty() || n < rates.front().bytes) return std::nullopt;
  double rate = rates.front().bytes_per_second;
  for (const CopyRate& r : rates)
    if (r.bytes <= n) rate = r.bytes_per_second;
  return vectors_moved(c) * static_cast<double>(n) / rate;
}

} // namespace kumihimo::worker
