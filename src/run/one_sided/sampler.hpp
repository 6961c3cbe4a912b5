// Samples of a measure, and what they found. A sample is a loop of calls that takes at least `least_sample_seconds`;
// its time is that of the slowest rank. Before it each rank makes one call that is not timed. What arrived is compared
// with the golden copy (one_sided/pattern.hpp).
#pragma once

#include "measure/clock.hpp"
#include "measure/statistics.hpp"
#include "one_sided/peers.hpp"
#include "one_sided/task.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::one_sided {

inline constexpr double least_sample_seconds = 1e-4;
inline constexpr std::int64_t guard_bytes = 64;         // behind the data, which nobody may write
inline constexpr std::int64_t always_checked = 1 << 20; // bytes; of more, the first and the last sample are checked
inline constexpr std::int64_t least_samples = 8, most_samples = 60, most_times = 1 << 20;

// Arithmetic that no compiler can leave out.
double compute(std::int64_t iterations);
// How many of them take so long.
std::int64_t iterations_of(double seconds);

// What a measure found: a call's time in seconds, and figures derived from it by their names.
struct OneSidedFigures {
  measure::Summary seconds;
  std::map<std::string, double> more;
};

struct OneSidedSamples {
  std::vector<double> seconds;
  std::int64_t times = 1;
  OneSidedFigures figures(double each) const { // of `each` calls in one of a loop
    std::vector<double> scaled = seconds;
    for (double& s : scaled) s /= each;
    return {measure::summarise(scaled), {}};
  }
  double median() const { return measure::summarise(seconds).median; }
};

// The time of so many calls of the operation, after one that is not timed.
template <class Operation>
double looped(std::int64_t times, Operation&& operation) {
  operation();
  const std::int64_t start = measure::now_ns();
  for (std::int64_t i = 0; i < times; ++i) operation();
  return measure::seconds_since(start);
}

class OneSidedSampler {
 public:
  // `meet`: that of the library.
  OneSidedSampler(OneSidedPeers& peers, const OneSidedTask& task, std::function<void()> meet)
      : peers_(peers), task_(task), meet_(std::move(meet)) {}

  void begin_case() { ++case_, wrong_ = -1; }
  std::int64_t wrong() const { return wrong_; } // the first that a check of this case found; -1: nothing

  // `prepare(seed)` and `check(seed)` before and after a sample, of body(times), which returns this rank's seconds.
  template <class Prepare, class Body, class Check>
  OneSidedSamples sampled(std::int64_t checked_bytes, Prepare&& prepare, Body&& body, Check&& check) {
    OneSidedSamples found;
    double took = 0;
    for (;;) {
      prepare(seed(-1));
      meet_();
      const double mine = body(found.times);
      meet_(); // the next begins where all of this one has arrived; the target progresses here meanwhile
      took = peers_.largest(mine);
      if (took >= least_sample_seconds || found.times >= most_times) break;
      const double wanted = static_cast<double>(found.times) * 1.2 * least_sample_seconds / std::max(took, 1e-9);
      const auto most = std::min(found.times * 100, most_times);
      found.times = std::clamp(static_cast<std::int64_t>(std::min(wanted, 1e9)), found.times * 2,
                               std::max(most, found.times * 2));
    }
    const auto n = std::clamp(static_cast<std::int64_t>(task_.case_seconds / took), least_samples, most_samples);
    for (std::int64_t i = 0; i < n; ++i) {
      const bool checks = checked_bytes <= always_checked || i == 0 || i == n - 1;
      if (checks) prepare(seed(i));
      meet_();
      const double mine = body(found.times);
      meet_();
      if (checks) note(check(seed(i)));
      found.seconds.push_back(peers_.largest(mine) / static_cast<double>(found.times));
    }
    return found;
  }

 private:
  std::uint64_t seed(std::int64_t sample) const {
    return (static_cast<std::uint64_t>(case_) << 24) + (static_cast<std::uint64_t>(sample + 1) << 12);
  }
  void note(std::int64_t wrong) { wrong_ = wrong_ >= 0 ? wrong_ : wrong; }

  OneSidedPeers& peers_;
  const OneSidedTask& task_;
  std::function<void()> meet_;
  std::int64_t case_ = 0, wrong_ = -1;
};

} // namespace kumihimo::one_sided
