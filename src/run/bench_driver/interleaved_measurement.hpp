// Measures candidates in turns in the same processes, so that disturbances of the machine affect all of them alike.
//
// A turn makes one call of each, in an order that changes from turn to turn. Before each call the input is written
// anew, and all ranks meet in the library's barrier before and after it. A sample is the largest of the ranks' times
// for the call. The first call of a candidate, which includes its set-up, is timed apart. Results include the processor
// time of all ranks together: if ranks share processors, a call takes about that time divided by their number.
//
// Ranks leave a barrier one after the other: the first may have sent before the others read their clocks, and a tree
// from there seems to take no time. Ranks with one clock can begin together instead, at an agreed time, and a sample
// ends with the last of them (S. Hunold, A. Carpen-Amarie, Reproducible MPI Benchmarking is Still Not as Easy as You
// Think, IEEE TPDS 27(12), 2016).
#pragma once

#include "bench_driver/candidate.hpp"
#include "bench_driver/task.hpp"
#include "bench_driver/vectors.hpp"
#include "mpi_job/job.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace kumihimo::bench_driver {

using mpi_job::MpiJob;

struct TurnOptions {
  double candidate_seconds = 0.05; // for one candidate, all its turns together
  std::int64_t at_least = 6, at_most = 1000;
  double long_call_seconds = 0; // in the mean of the first turn: longer calls take that turn alone; 0: never
  bool begins_together = false; // if all ranks are on one node
};
TurnOptions turn_options(const BenchTask& task);

class InterleavedMeasurement {
 public:
  InterleavedMeasurement(MpiJob& job, TurnOptions options, BenchVectors vectors);

  void add(std::unique_ptr<BenchCandidate> candidate) { candidates_.push_back(std::move(candidate)); }
  const std::vector<std::unique_ptr<BenchCandidate>>& candidates() const { return candidates_; }

  // Takes all turns. Collective. Error: a candidate that cannot be made ready.
  Status measure();
  // Combines the samples of all ranks, and compares their results. Collective.
  nlohmann::json result_of(const BenchCandidate& candidate) const;

 private:
  Status first_call(BenchCandidate& candidate);
  double timed_call(BenchCandidate& candidate, const BenchVectors::Set& set, std::int64_t start_ns) const;
  nlohmann::json processor_time_of(const BenchCandidate& candidate) const;
  std::int64_t begin() const;
  double timed_turn(std::int64_t turn);
  void leave_out_hopeless();
  void take_turn(std::int64_t turn);
  void sample(BenchCandidate& candidate, std::int64_t turn);

  MpiJob& job_;
  TurnOptions options_;
  BenchVectors vectors_;
  std::vector<std::unique_ptr<BenchCandidate>> candidates_;
  std::vector<std::size_t> order_; // of those that take turns
  std::mt19937 random_{1};
  std::int64_t next_call_ = 0;
};

} // namespace kumihimo::bench_driver
