// One implementation of a collective, or of a program set, that takes part in a measurement: one of ours, or the
// library's own.
#pragma once

#include "bench_driver/task.hpp"
#include "bench_driver/vectors.hpp"
#include "measure/processor_time.hpp"
#include "mpi_job/job.hpp"
#include "plan/plan.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::bench_driver {

class BenchCandidate {
 public:
  virtual ~BenchCandidate() = default;
  // Does everything that counts as part of the first call.
  virtual Status make_ready() { return Nothing{}; }
  virtual Status call(const BenchVectors::Set& set) = 0;
  // Of a non-blocking call: the work is done between its beginning and the wait for its end.
  virtual Status call_over(const BenchVectors::Set& set, const std::function<void()>& work) {
    work();
    return call(set);
  }

  struct Bytes {
    const void* data = nullptr;
    std::int64_t bytes = 0;
  };
  // The result of the call on this rank; no data if it has none.
  virtual Bytes result(const BenchVectors::Set& set) const = 0;
  // Whether all ranks that have a result must have the same.
  virtual bool gives_all_the_same() const = 0;

  double first_seconds = 0;              // of make_ready() and the first call, on the slowest rank
  std::vector<double> seconds;           // of this rank, one for each turn
  measure::ProcessorTime processor_time; // of this process, for all turns together
  // The hash of the first result of each contents, and whether all later results had the same.
  std::vector<std::uint64_t> results;
  bool repeats_itself = true;
};

// A candidate that looks its plan up in a cache in each call.
std::unique_ptr<BenchCandidate> our_candidate(const TaskCase& c, Schedule schedule, Rank rank,
                                              transport::Transport& transport, plan::PlanCache& cache);
std::unique_ptr<BenchCandidate> library_candidate(const mpi::Library& library, mpi::Handle world,
                                                  const Collective& collective, Rank rank,
                                                  bool is_non_blocking = false);

} // namespace kumihimo::bench_driver
