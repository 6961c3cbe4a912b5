// Which calls of a call site are timed. Two readings of the clock cost more than all else that the recorder does in a
// call, so where calls are short, one call of each 16 is timed and represents them. Which one it is follows from a hash
// of the group's number, since a program's loop has a period. The group's mode is decided before its first call and the
// hash knows no times, so the estimated sum is unbiased.
#pragma once

#include "base/hash.hpp"

#include <cmath>
#include <cstdint>
#include <optional>

namespace kumihimo::record {

class TimedCalls {
 public:
  static constexpr std::int64_t group = 16;
  // A call that takes this long is no short one: after it, as at first, so many calls are timed one by one.
  static constexpr std::int64_t long_ns = 1000, all_timed_after_long = 64;

  explicit TimedCalls(std::uint64_t seed) : seed_(seed) {}

  // Whether the call of this number (from 0) is timed. It stays so until note().
  bool times(std::int64_t call) const { return call >= next_; }

  // Notes the time of a call that times() says is timed. Returns the number of calls that it represents.
  std::int64_t note(std::int64_t call, std::int64_t ns) {
    const std::int64_t represents = represents_;
    ++calls_;
    if (represents > 1) {
      ++groups_;
      // One of a group says nothing of the spread within it. That between neighbouring groups is at least as large on
      // average: the variance of "collapsed strata" (Cochran, Sampling Techniques, 1977, section 5A.12).
      const auto apart = static_cast<double>(group * (ns - last_ns_));
      if (last_ns_ >= 0) variance_ += apart * apart / 2;
      last_ns_ = ns;
    }
    if (ns >= long_ns) all_timed_until_ = call + all_timed_after_long;
    const std::int64_t next_group = call / group + 1;
    if (represents > 1 || call + 1 == next_group * group) begin(next_group);
    return represents;
  }

  std::int64_t calls() const { return calls_; }
  // The standard error of the sum of times weighted by what note() returns; none if one group alone was sampled.
  std::optional<double> error_ns() const { return groups_ == 1 ? std::nullopt : std::optional(std::sqrt(variance_)); }

 private:
  void begin(std::int64_t number) {
    const std::int64_t first = number * group;
    const bool sampled = first >= all_timed_until_;
    represents_ = sampled ? group : 1;
    next_ = first;
    if (sampled) next_ += static_cast<std::int64_t>(mixed(seed_, static_cast<std::uint64_t>(number)) % group);
  }

  std::int64_t next_ = 0; // no call before it is timed
  std::int64_t represents_ = 1;
  std::int64_t all_timed_until_ = all_timed_after_long;
  std::int64_t last_ns_ = -1;
  std::int64_t calls_ = 0, groups_ = 0;
  double variance_ = 0;
  std::uint64_t seed_;
};

} // namespace kumihimo::record
