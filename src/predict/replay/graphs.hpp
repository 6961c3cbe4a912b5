// A recorded program as graphs of operations: computing between calls is a calc, messages are sends and receives, a
// call that waits is a join, and each collective is the programs of an algorithm of the registry.
//
// A rank's calls follow each other. A call leaves when what it waits for has ended, and what only begins in it has
// started. What is under way meanwhile needs no call to go on, as with an MPI library that has a thread for it.
#pragma once

#include "collectives/registry.hpp"
#include "goal/graph.hpp"
#include "goal/programs.hpp"
#include "replay/recording.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace kumihimo::replay {

// How a collective is performed.
struct Choice {
  const Variant* variant = nullptr;
  Parameters parameters;
};

struct Options {
  double speed = 1;                 // of the processors, against those of the recording
  std::vector<double> region_speed; // by region; those beyond its end, and 0, take `speed`
  bool balanced = false;            // each rank computes as long as the mean of all, in other proportions as recorded
  goal::WorkRates rates;            // of the reductions and copies in collectives
  std::optional<RankSpace> space;   // of the ranks, for collectives of all of them; none: a row
  std::int64_t most = std::int64_t{1} << 26; // operations of all graphs; while one is made, twice as many are there
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

struct Program {
  goal::Graphs graphs{0};
  std::vector<std::vector<Mark>> different_marks; // none: of a GOAL file, which names no calls
  std::vector<std::uint32_t> marks_of_rank;

  const std::vector<Mark>& marks(std::int32_t rank) const { // in the order of the calcs
    return different_marks[marks_of_rank[static_cast<std::size_t>(rank)]];
  }
  // The site of the call that an operation is a part of; none: of computing, or of a GOAL file.
  std::optional<std::uint32_t> site_of(std::int32_t rank, std::uint32_t operation) const;
  // The site of the first call that leaves when the operation ends, which began in another call perhaps; none: no call.
  std::optional<std::uint32_t> site_of_wait(std::int32_t rank, std::uint32_t operation) const;
  bool has_marks() const { return !marks_of_rank.empty(); }
  std::optional<Mark> mark_from(std::int32_t rank, std::uint32_t operation) const; // the first that is not before it
  void add_marks(std::int32_t rank, std::vector<Mark> marks,
                 std::unordered_multimap<std::int32_t, std::uint32_t>& known);
};

// `choices`: of source.calls(). Errors name the collective that an algorithm does not fit, and say when the graphs
// would be too large.
Result<Program> program_of(const Source& source, std::span<const Choice> choices, const Options& options = {});

// The graphs of a GOAL file, whose computing Options scale. Its ranks compute in region 0 while any of their processors
// does; all that is between is a call at site 0. Error: too many operations.
Result<Program> program_of(const goal::Graphs& graphs, const Options& options = {});

// Whether all ranks are in it, in their order in the world.
bool is_like_world(const Source& source, std::uint32_t communicator);

// "allreduce of 8 bytes on 64 ranks"
std::string name_of(const Source& source, const CollectiveCall& call);

} // namespace kumihimo::replay
