// Time, traffic and operations of the kernels of a run, for the roofline.
#pragma once

#include "measure/clock.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kumihimo::application {

// Of one call on this rank: the bytes that it must move between memory and processor (an array that several loops of
// the call read counts once), and its floating-point operations.
struct KernelWork {
  double bytes = 0, flops = 0;
};

class KernelTimes {
 public:
  // A number by which add() finds the kernel. `is_setup`: its time is not in the seconds of the run.
  std::size_t declare(std::string name, KernelWork of_a_call, bool is_setup = false);
  void add(std::size_t kernel, std::int64_t nanoseconds) {
    rows_[kernel].nanoseconds += nanoseconds;
    ++rows_[kernel].calls;
  }
  void add(std::size_t kernel, std::int64_t calls, double seconds) {
    rows_[kernel].nanoseconds += static_cast<std::int64_t>(seconds * 1e9);
    rows_[kernel].calls += calls;
  }
  // Forgets what was measured, but for set-up: of a pass that warms up.
  void clear() {
    for (Row& row : rows_)
      if (!row.is_setup) row.calls = row.nanoseconds = 0;
  }
  // Measures `call` and returns its result.
  template <class Call>
  auto timed(std::size_t kernel, Call call) {
    const std::int64_t start = measure::now_ns();
    auto result = call();
    add(kernel, measure::now_ns() - start);
    return result;
  }

  struct Row {
    std::string name;
    KernelWork work; // of a call
    bool is_setup = false;
    std::int64_t calls = 0, nanoseconds = 0;
  };
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

class Processes;
// [{"name", "calls", "seconds": of the slowest rank, "bytes", "flops": of all calls of all ranks, "setup": true if
// its time is not in the run's}]. Collective.
nlohmann::json to_json(const KernelTimes& times, Processes& processes);

} // namespace kumihimo::application
