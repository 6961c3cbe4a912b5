// A run with the times of its ranks and, if asked for, its timeline.
#pragma once

#include "goal/aftermath.hpp"
#include "loggp/statistics.hpp"
#include "loggp/timeline.hpp"

#include <utility>

namespace kumihimo::loggp {

struct RankSeconds { // computing, overhead and noise of all its processors; waiting: while none works
  double end = 0, computing = 0, overhead = 0, noise = 0, waiting = 0;
  std::uint64_t operations = 0;
};

struct ObservedRun {
  LogGopsOutcome outcome;
  std::vector<RankWork> times;
  std::string timeline;
  std::uint64_t left_out = 0;               // pieces of work that the timeline lacks
  std::optional<goal::Aftermath> aftermath; // where ranks die

  RankSeconds of_rank(std::int32_t rank) const;
  // The rank that receives most messages more than it sends, and how many more. There must be ranks.
  std::pair<std::int32_t, std::int32_t> busiest_receiver() const;
  RankSeconds mean() const; // over all ranks; of operations: all of them
};

Result<ObservedRun> run_observed(const goal::Graphs& graphs, const LogGopsParameters& parameters,
                                 EngineOptions options = {}, bool with_timeline = false);

} // namespace kumihimo::loggp
