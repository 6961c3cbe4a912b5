// Times of a phase on all ranks, on one scale: on one node the clock is the same for all, on several nodes each rank
// counts from its exit of the barrier before the phase.
#pragma once

#include "measure/clock.hpp"
#include "mpi_job/job.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::file_bench {

class PhaseClock {
 public:
  // Collective: ends with a barrier.
  explicit PhaseClock(const mpi_job::MpiJob& job) : job_(job) {
    const std::int64_t common = job.gather(measure::now_ns())[0];
    job.barrier();
    origin_ = job.has_one_clock() ? common : measure::now_ns();
  }
  double now() const { return static_cast<double>(measure::now_ns() - origin_) * 1e-9; } // seconds

  // Of the ranks; collective.
  double last(double mine) const { return job_.largest({mine})[0]; }
  double first(double mine) const { return -job_.largest({-mine})[0]; }
  double span(double begin, double end) const {
    const std::vector<double> found = job_.largest({-begin, end});
    return found[1] + found[0];
  }

 private:
  const mpi_job::MpiJob& job_;
  std::int64_t origin_ = 0;
};

} // namespace kumihimo::file_bench
