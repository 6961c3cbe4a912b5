// What an operating system takes from the processors: detours, during which a rank's work stands still (T. Hoefler, T.
// Schneider, A. Lumsdaine, Characterizing the Influence of System Noise on Large-Scale Applications by Simulation,
// SC10).
#pragma once

#include "base/result.hpp"
#include "goal/graph.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kumihimo::goal {

struct NoiseDetour {
  Time start = 0, length = 0;
  bool operator==(const NoiseDetour&) const = default;
};

struct NoiseModel {
  // periodic: a detour of `length` every `interval`. exponential: detours of `length`, the times between whose starts
  // are exponentially distributed with the mean `interval`. trace: `detours` in [0, interval), again and again.
  enum class Kind : std::uint8_t { periodic, exponential, trace };
  Kind kind = Kind::periodic;
  Time interval = 0, length = 0;
  std::vector<NoiseDetour>
      detours;            // by start; none begins before the end of the one before, or ends after the interval
  bool cosched = false;   // all ranks have their detours at the same times; otherwise each begins at another phase
  std::int32_t every = 1; // only ranks 0, every, 2 every ... have noise
  std::uint64_t seed = 1;
  struct Ranks {
    std::int32_t first = 0, last = 0;
  };
  std::vector<Ranks> ranks = {}; // only these, of those that `every` leaves; none: all
};

// Errors: an interval of 0; detours longer than nine tenths of the time; a trace out of order.
Status check(const NoiseModel& model);
// Of a job of so many ranks: noise on ranks beyond them is an error, too.
Status check(const NoiseModel& model, std::int32_t ranks);

// A trace as LogGOPSim reads it: lines of start and length in nanoseconds, '#' begins a comment. After a comment such
// as "# start[usec] duration[usec]", which the benchmark selfish writes, they are in microseconds. The interval ends
// with the last detour. Errors name the line.
Result<NoiseModel> parse_noise_trace(std::string_view text, std::string_view file);

class Noise {
 public:
  Noise(NoiseModel model, std::int32_t ranks);
  // How much later work of `work` ends that starts at `start`. The starts of a rank never decrease.
  Time lost(std::int32_t rank, Time start, Time work);

 private:
  struct Drawn { // exponential: the detours that are not over at the latest start, as works of a rank may overlap
    std::vector<NoiseDetour> detours; // one, mostly
    std::uint64_t count = 0;
  };
  Time phase(std::int32_t rank) const;
  Time lost_to_trace(std::int32_t rank, Time start, Time work) const;
  Time lost_to_drawn(std::int32_t rank, Time start, Time work);
  void draw(std::int32_t rank, Drawn& drawn) const;

  bool is_quiet(std::int32_t rank) const { return !quiet_.empty() && quiet_[static_cast<std::size_t>(rank)] != 0; }

  NoiseModel model_;
  std::vector<char> quiet_;  // by rank; empty: none is
  std::vector<Drawn> drawn_; // by rank, where the model draws
};

} // namespace kumihimo::goal
