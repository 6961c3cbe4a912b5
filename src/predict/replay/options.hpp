// How a recorded program is run again.
#pragma once

#include "collectives/registry.hpp"
#include "goal/programs.hpp"
#include "replay/source.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo::replay {

// How a collective is performed.
struct Choice {
  const Variant* variant = nullptr; // none: the call sends nothing
  Parameters parameters;
  double more_seconds = 0; // of each rank, after its part: what a library's own call was measured to take beyond it
};

struct ReplayOptions {
  double speed = 1;                 // of the processors, against those of the recording
  std::vector<double> region_speed; // by region; those beyond its end, and 0, take `speed`
  bool balanced = false;            // each rank computes as long as the mean of all, in other proportions as recorded
  goal::WorkRates rates;            // of the reductions and copies in collectives
  std::optional<RankSpace> space;   // of the ranks, for collectives of all of them; none: a row
  std::int64_t most = std::int64_t{1} << 26; // operations of all graphs; while one is made, twice as many are there
  // With more operations, no graphs are made: a model that can makes them as it comes to them. None: there must be
  // graphs.
  std::optional<std::int64_t> windowed_from;
};

// Before every call and at the end of a rank there is a calc, so that the time from the end of one to the start of the
// next is the time of the call between them.
struct Mark {
  std::uint32_t operation = 0;  // a calc
  std::uint32_t site = no_site; // of the call before it; none: it follows another calc
  std::uint32_t region = 0;
  static constexpr std::uint32_t no_site = 0xFFFFFFFFU;
  bool operator==(const Mark&) const = default;
};

// A program that is too large for graphs.
struct Windowed {
  const Source* source = nullptr;
  std::vector<Choice> choices;
  ReplayOptions options;
};

// Whether all ranks are in it, in their order in the world.
bool is_like_world(const Source& source, std::uint32_t communicator);

// "allreduce of 8 bytes on 64 ranks"
std::string name_of(const Source& source, const RecordedCollective& call);

} // namespace kumihimo::replay
