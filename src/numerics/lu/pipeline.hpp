// The time of a factorisation on a grid of processes by a recurrence over its panels: LU with look-ahead, as
// apps/lu_app does it. It knows every panel, and costs P + Q numbers a panel, so that a machine of 100,000 processes
// takes seconds.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::lu {

// What a process does in a broadcast along a row: it sends a message, or waits for one. Processes are told by their
// distance from the one that owns the panel. Those of one process are in the order in which it does them; all messages
// have numbers in the order of their sends, and each is sent before it is waited for.
struct BroadcastEvent {
  std::int32_t process = 0;
  bool sends = true;
  double share = 1;         // of a send: of the panel's bytes
  std::int32_t message = 0; // of a wait
};

// `speeds`: of each process, rank p Q + q in row p and column q; empty: all are 1.
struct PipelineQuestion {
  std::int64_t rows = 0, block = 1;
  std::int32_t p = 1, q = 1;
  std::int32_t lookahead = 1;                                // panels that are made before the rest is updated
  double update_rate = 1, panel_rate = 1, solution_rate = 1; // flops a second of a process with speed 1
  double move_seconds = 0;                                   // of a number that changes its row, with speed 1
  double message_seconds = 0, byte_seconds = 0;              // a message: its start, and each byte
  std::vector<double> speeds;
  // Of a panel: of each process of a row that may own it, in their order; one alone: of all; none: along a chain.
  std::vector<std::vector<BroadcastEvent>> broadcasts;
  bool tournament = false; // one exchange finds all pivots of a panel, not one each
  bool tasks = false;      // of a tournament: that exchange brings the displaced rows, too
};

struct PipelineTimes {
  double seconds = 0;
  double mean_work = 0, most_work = 0; // computing and exchanges along columns: of a column of the grid
  std::int64_t panels = 0;
};

// The processes of a column move in lockstep, because they exchange rows for every panel. So each column of the grid
// has one time: that of its slowest process with the most rows of any. Panels go along a row by `broadcast`, also
// while processes compute. A process sends one message after another, and these meet no others. Time: O(panels (Q +
// messages + look-ahead)). Errors: a size or a rate is not positive; a negative look-ahead; speeds that are not those
// of P Q processes; events of another number of owners or of other processes, or a wait for what was not sent.
Result<PipelineTimes> pipeline(const PipelineQuestion& question);

} // namespace kumihimo::lu
