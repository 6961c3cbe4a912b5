// Noise that a test or a measurement injects: detours that take the processor from one thread, as the operating system
// may (T. Hoefler, T. Schneider, A. Lumsdaine, SC10).
#pragma once

#include "base/result.hpp"
#include "tasks/task_work.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kumihimo::tasks {

// Nanoseconds. One detour in every interval, at a random place of it that the seed decides.
struct NoisePattern {
  std::int64_t length = 0, interval = 0; // length 0: no noise
  std::uint64_t seed = 1;

  std::int64_t start_of(std::int64_t detour) const;
  // When a thread goes on that would begin work at this time: after the detour that it is in.
  std::int64_t resumed(std::int64_t time) const;
  // When work ends that began outside of detours and would have ended at `end` without any.
  std::int64_t delayed(std::int64_t begin, std::int64_t end) const;
};

// "30ms/100ms": LENGTH/INTERVAL in ns, us, ms or s; empty: none. Errors: another form; a length above nine tenths of
// the interval.
Result<NoisePattern> parse_noise_pattern(std::string_view text, std::string_view option);

class InjectedNoise {
 public:
  struct Taken {
    std::int64_t begin = 0, end = 0; // nanoseconds since start()
  };

  // Takes the processor from `thread`.
  InjectedNoise(NoisePattern pattern, int thread) : pattern_(pattern), thread_(thread) {}
  void start(); // time 0 of the pattern
  // The work as it goes on with this noise: a task that a detour meets takes as much longer as the detour lasts. A
  // detour while the thread waits costs nothing. Both outlive it.
  TaskWork around(const TaskWork& work);

  int thread() const { return thread_; }
  const std::vector<Taken>& taken() const { return taken_; } // detours that delayed work, after the run

 private:
  void wait_until(std::int64_t time);

  NoisePattern pattern_;
  int thread_;
  std::int64_t zero_ = 0;
  std::vector<Taken> taken_; // written by the one thread
};

} // namespace kumihimo::tasks
