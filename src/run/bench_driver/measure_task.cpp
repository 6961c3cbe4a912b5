#include "bench_driver/bound.hpp"
#include "bench_driver/check.hpp"
#include "bench_driver/interleaved_measurement.hpp"
#include "bench_driver/tasks.hpp"
#include "plan/collective_call.hpp"
#include "schedule/data.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace kumihimo::bench_driver {
namespace {

using nlohmann::json;

bool same_collective(const TaskCase& a, const TaskCase& b) {
  return plan::key_of(a.collective) == plan::key_of(b.collective) && a.shape == b.shape && a.emulates == b.emulates &&
         a.node_sizes == b.node_sizes && a.is_non_blocking() == b.is_non_blocking();
}

class Measuring {
 public:
  Measuring(MpiJob& job, const BenchTask& task, std::vector<CopyRate> rates)
      : job_(job), task_(task), rates_(std::move(rates)) {}

  // Cases [begin, end) have one collective.
  Status group(std::size_t begin, std::size_t end) {
    const Collective& collective = task_.cases[begin].collective;
    Result<BenchVectors> vectors = BenchVectors::make(collective, Rank{job_.rank()});
    if (Status s = job_.agree(vectors); !s) return s;
    InterleavedMeasurement turns(job_, turn_options(task_), std::move(*vectors));
    std::vector<json> results; // one a case, printed in the order of the cases: whoever reads pairs them by it
    for (std::size_t i = begin; i < end; ++i)
      if (Status s = enter(turns, task_.cases[i], i - begin, results); !s) return s;
    if (!turns.candidates().empty())
      if (Status s = measure(turns, task_.cases[begin], results); !s) return s;
    for (const json& result : results) job_.print(result);
    return Nothing{};
  }

 private:
  Status measure(InterleavedMeasurement& turns, const TaskCase& c, std::vector<json>& results) const {
    const Collective& collective = c.collective;
    const bool compares = task_.compares && plan::has_call(collective.kind, collective.counts.irregular());
    if (compares)
      turns.add(library_candidate(job_.library(), job_.world(), collective, Rank{job_.rank()}, c.is_non_blocking()));
    if (Status s = turns.measure(); !s) return s;
    const json theirs = compares ? turns.result_of(*turns.candidates().back()) : json();
    auto ours = turns.candidates().begin();
    for (json& result : results) {
      if (result.contains("not_applicable")) continue;
      result.update(turns.result_of(**ours++));
      if (compares) {
        result["library"] = theirs;
        result["ratio"] = result["seconds"].get<double>() / theirs["seconds"].get<double>();
      }
      const std::optional<double> bound = bound_seconds(collective, rates_);
      result["bound_seconds"] = bound ? json(*bound) : json();
    }
    return Nothing{};
  }

  // Adds what of its result is known before it is measured; a case that does not fit does not take part.
  Status enter(InterleavedMeasurement& turns, const TaskCase& c, std::size_t place, std::vector<json>& results) {
    Ready ready = TRY(make_ready(job_, task_, c));
    results.push_back(std::move(*ready.result));
    if (!ready.transport) return Nothing{};
    while (caches_.size() <= place) caches_.push_back(std::make_unique<plan::PlanCache>());
    turns.add(our_candidate(c, ready.schedule, Rank{job_.rank()}, *ready.transport, *caches_[place]));
    return Nothing{};
  }

  MpiJob& job_;
  const BenchTask& task_;
  std::vector<CopyRate> rates_;
  // One for each algorithm measured side by side: the plans of all sizes stay, as they do in a program.
  std::vector<std::unique_ptr<plan::PlanCache>> caches_;
};

std::int64_t longest_bytes(const BenchTask& task) {
  std::int64_t longest = 0;
  for (const TaskCase& c : task.cases) longest = std::max(longest, longest_buffer_bytes(c.collective));
  return longest;
}

} // namespace

Status run_measure(MpiJob& job, const BenchTask& task) {
  std::vector<CopyRate> rates =
      TRY(task.wants_bound ? measure_copy_rates(job, longest_bytes(task)) : std::vector<CopyRate>());
  Measuring measuring(job, task, std::move(rates));
  for (std::size_t begin = 0; begin < task.cases.size();) {
    std::size_t end = begin + 1;
    while (end < task.cases.size() && same_collective(task.cases[begin], task.cases[end])) ++end;
    if (Status s = measuring.group(begin, end); !s) return s;
    begin = end;
  }
  return Nothing{};
}

} // namespace kumihimo::bench_driver
