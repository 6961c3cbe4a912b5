// What becomes of graphs of operations in which ranks die: who completes, and who waits for ever, for whom.
#pragma once

#include "goal/deaths.hpp"

#include <string>
#include <vector>

namespace kumihimo::goal {

struct Aftermath {
  // complete: all operations ended, if need be before its death. died: before that. waits: alive, and for ever.
  enum class State : std::uint8_t { complete, died, waits };
  struct OfRank {
    State state = State::complete;
    // Of a rank that waits: how many waits lead to a rank that died; 1: it waits for that rank itself. 0: none do; a
    // rank that completed had its message, which it would not have had without the death (receives from any rank).
    std::int32_t waits = 0;
    Time last = 0; // when its last operation ended
  };
  std::vector<OfRank> ranks;
  std::int64_t complete = 0, died = 0;
  std::int64_t waiting_directly = 0, waiting_indirectly = 0; // for a rank that died; for one that waits
  Time complete_until = 0;                                   // the last end of a rank that completes
  Time stuck_from = 0;                                       // the last end of an operation of ranks that wait
  Time last_progress = 0;                                    // of any rank
  // Sends, receives and calcs: of the program, those that ended, and of these those of ranks that died.
  std::uint64_t operations = 0, operations_done = 0, operations_lost = 0;
  Time computing = 0, computing_done = 0, computing_lost = 0; // the same of the time of calcs
  // Of the lowest rank that waits: its operation that waits, that of the rank it waits for, and so on, by their names;
  // the last one waits for `chain_end`, which died (or -1: no rank waits so).
  std::vector<std::string> chain;
  std::vector<std::pair<std::int32_t, std::uint32_t>> chain_at; // the same as ranks and their operations
  std::int32_t chain_end = -1;
};

// `ends`: of a run with these deaths. `sends_wait`: a send starts once its receive is posted. The model does not
// matter.
Aftermath aftermath_of(const Graphs& graphs, const Deaths& deaths, const Ends& ends, bool sends_wait = false);

} // namespace kumihimo::goal
