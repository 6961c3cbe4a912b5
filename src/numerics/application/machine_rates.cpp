#include "application/machine_rates.hpp"

#include "measure/clock.hpp"
#include "node_bench/peak.hpp"
#include "node_bench/stream.hpp"
#include "node_bench/stream_kernels.hpp"
#include "threads/array.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <limits>

namespace kumihimo::application {
namespace {

constexpr int repeats = 10;

constexpr int triad = 3;
constexpr std::int64_t line = 8; // doubles of a cache line

double by_clock_of_node() { return static_cast<double>(measure::now_ns()) * 1e-9; }

// The best of some repeats, as other programs may disturb some.
template <class Work>
double best_seconds(Processes& processes, Work work) {
  double best = 0;
  for (int i = 0; i < repeats; ++i) {
    processes.barrier();
    const double start = by_clock_of_node();
    work();
    const double seconds = span_of_node(processes, start, by_clock_of_node());
    if (i == 0 || seconds < best) best = seconds;
  }
  return best;
}

double peak_of(Processes& processes) {
  const node_bench::PeakLoop loop = node_bench::widest_peak_loop();
  const int team = threads::count();
  double sink = 0;
  const double seconds = best_seconds(processes, [&] {
#pragma omp parallel for schedule(static, 1) num_threads(team) reduction(+ : sink)
    for (int i = 0; i < team; ++i) sink += loop.run();
  });
  // A sum of positive numbers: the compiler cannot leave the work out.
  return processes.total({sink > 0 ? loop.flops * team : 0})[0] / seconds;
}

} // namespace

std::int64_t array_bytes_of_rank(const Processes& processes, std::int64_t bytes_of_node) {
  const std::vector<std::int64_t> nodes = processes.node_of_rank();
  const auto beside = std::count(nodes.begin(), nodes.end(), nodes[static_cast<std::size_t>(processes.rank())]);
  return (bytes_of_node + beside - 1) / beside;
}

double span_of_node(Processes& processes, double start, double end) {
  const std::vector<std::int64_t> nodes = processes.node_of_rank();
  const auto count = static_cast<std::size_t>(*std::max_element(nodes.begin(), nodes.end())) + 1;
  const auto mine = static_cast<std::size_t>(nodes[static_cast<std::size_t>(processes.rank())]);
  // Of each node -start and end.
  std::vector<double> limits(2 * count, std::numeric_limits<double>::lowest());
  limits[2 * mine] = -start;
  limits[2 * mine + 1] = end;
  limits = processes.largest(limits);
  double longest = 0;
  for (std::size_t node = 0; node < count; ++node) longest = std::max(longest, limits[2 * node] + limits[2 * node + 1]);
  return longest;
}

Result<MachineRates> measure_rates(Processes& processes, std::int64_t bytes) {
  const std::int64_t of_node = bytes > 0 ? bytes : node_bench::usual_array_bytes();
  const std::int64_t lines = std::max<std::int64_t>(1, array_bytes_of_rank(processes, of_node) / (8 * line));
  const std::int64_t n = lines * line;
  auto a = threads::ThreadedArray<double>::zeros(n), b = threads::ThreadedArray<double>::zeros(n),
       c = threads::ThreadedArray<double>::zeros(n);
  for (const auto* array : {&a, &b, &c})
    if (Status s = processes.agree_on(*array); !s) return s.error();
  const node_bench::StreamArrays arrays{a->data(), b->data(), c->data()};
  const int team = threads::count();
  const double seconds = best_seconds(processes, [&] {
#pragma omp parallel for schedule(static, 1) num_threads(team)
    for (int i = 0; i < team; ++i) {
      const threads::IndexRange mine = threads::part(lines, i, team);
      node_bench::run_stream(triad, node_bench::Stores::cached, arrays, 3.0, mine.begin * line, mine.end * line);
    }
  });
  MachineRates rates;
  rates.triad_bytes_per_second = processes.total({24.0 * static_cast<double>(n)})[0] / seconds;
  rates.peak_flops = peak_of(processes);
  return rates;
}

} // namespace kumihimo::application
