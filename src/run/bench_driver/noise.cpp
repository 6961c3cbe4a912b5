// The part `noise` of a calibration: FWQ on all ranks at once.
#include "bench_driver/memory.hpp"
#include "bench_driver/tasks.hpp"
#include "measure/clock.hpp"
#include "measure/detours.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace kumihimo::bench_driver {
namespace {

// Work that uses neither memory nor what hardware threads share most, and that no compiler shortens.
void work(std::int64_t turns) {
  std::uint64_t x = 1;
  for (std::int64_t i = 0; i < turns; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
}

// That take about so long where nothing interrupts them.
std::int64_t turns_of(double seconds) {
  double turns = 1000;
  for (int round = 0; round < 20; ++round) {
    std::int64_t best = std::int64_t{1} << 60;
    for (int i = 0; i < 20; ++i) {
      const std::int64_t start = measure::now_ns();
      work(static_cast<std::int64_t>(turns));
      best = std::min(best, measure::now_ns() - start);
    }
    const double ratio = seconds * 1e9 / static_cast<double>(std::max<std::int64_t>(best, 1));
    turns = std::max(1.0, turns * std::min(ratio, 100.0));
    if (ratio > 0.98 && ratio < 1.02) break;
  }
  return static_cast<std::int64_t>(turns);
}

// The detours of `rank`, on all ranks. Through sums, as the library may be set to refuse other calls: see Job.
std::vector<double> shared(const MpiJob& job, std::int32_t rank, const std::vector<measure::Detour>& mine,
                           std::int64_t count) {
  std::vector<double> numbers(static_cast<std::size_t>(2 * count));
  if (job.rank() == rank)
    for (std::size_t i = 0; i < mine.size(); ++i) {
      numbers[2 * i] = static_cast<double>(mine[i].start);
      numbers[2 * i + 1] = static_cast<double>(mine[i].length);
    }
  return numbers.empty() ? numbers : job.sum(numbers);
}

} // namespace

Status measure_noise(MpiJob& job, const BenchTask& task) {
  const auto most = static_cast<std::size_t>(task.noise_seconds / task.quantum_seconds) + 1;
  std::vector<std::int64_t> stamps;
  const Need need{static_cast<std::int64_t>(8 * most), "the times of noise", "measure for a shorter time"};
  if (Status s = job.agree(with_memory(need,
                                       [&] {
                                         stamps.assign(most, 1); // written, so that no page is missing later
                                         return Nothing{};
                                       }));
      !s)
    return s;
  const std::int64_t turns = turns_of(task.quantum_seconds);
  const auto duration = static_cast<std::int64_t>(task.noise_seconds * 1e9);
  job.barrier();
  stamps[0] = measure::now_ns();
  std::size_t pieces = 0;
  while (pieces + 1 < most && stamps[pieces] - stamps[0] < duration) {
    work(turns);
    stamps[++pieces] = measure::now_ns();
  }
  job.barrier();
  stamps.resize(pieces + 1);
  const measure::FixedWork mine = measure::find_detours(stamps);
  const std::vector<std::int64_t> quanta = job.gather(mine.quantum_ns), durations = job.gather(mine.duration_ns),
                                  numbers = job.gather(mine.pieces),
                                  counts = job.gather(static_cast<std::int64_t>(mine.detours.size()));
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const std::vector<double> detours = shared(job, static_cast<std::int32_t>(rank), mine.detours, counts[rank]);
    nlohmann::json list = nlohmann::json::array();
    for (std::size_t i = 0; i < detours.size(); i += 2)
      list.push_back({static_cast<std::int64_t>(detours[i]), static_cast<std::int64_t>(detours[i + 1])});
    const auto node = static_cast<std::size_t>(job.nodes().node_of_rank[rank]);
    job.print(nlohmann::json{{"noise",
                              {{"rank", rank},
                               {"node", job.nodes().names[node]},
                               {"quantum", quanta[rank]},
                               {"duration", durations[rank]},
                               {"pieces", numbers[rank]},
                               {"detours", list}}}});
  }
  return Nothing{};
}

} // namespace kumihimo::bench_driver
