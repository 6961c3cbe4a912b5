// A recorded program as graphs of operations: computing between calls is a calc, messages are sends and receives, a
// call that waits is a join, and each collective is the programs of an algorithm of the registry.
//
// A rank's calls follow each other. A call leaves when what it waits for has ended, and what only begins in it has
// started. What is under way meanwhile needs no call to go on, as with an MPI library that has a thread for it.
#pragma once

#include "goal/graph.hpp"
#include "replay/options.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace kumihimo::replay {

struct ReplayProgram {
  goal::Graphs graphs{0};
  std::shared_ptr<const Windowed> windowed;       // null: there are graphs
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
// would be too large. The source must outlive a windowed program.
Result<ReplayProgram> program_of(const Source& source, std::span<const Choice> choices,
                                 const ReplayOptions& options = {});

// The graphs of a GOAL file, whose computing Options scale. Its ranks compute in region 0 while any of their processors
// does; all that is between is a call at site 0. Error: too many operations.
Result<ReplayProgram> program_of(const goal::Graphs& graphs, const ReplayOptions& options = {});

} // namespace kumihimo::replay
