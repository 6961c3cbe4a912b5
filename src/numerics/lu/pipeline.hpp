// The time of a factorisation on a grid of processes by a recurrence over its panels: LU with look-ahead, as
// apps/lu_app does it. It knows every panel, and costs P + Q numbers a panel, so that a machine of 100,000 processes
// takes seconds.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::lu {

// `speeds`: of each process, rank p Q + q in row p and column q; empty: all are 1.
struct PipelineQuestion {
  std::int64_t rows = 0, block = 1;
  std::int32_t p = 1, q = 1;
  std::int32_t lookahead = 1;                                // panels that are made before the rest is updated
  double update_rate = 1, panel_rate = 1, solution_rate = 1; // flops a second of a process with speed 1
  double move_seconds = 0;                                   // of a number that changes its row, with speed 1
  double message_seconds = 0, byte_seconds = 0;              // a message: its start, and each byte
  std::vector<double> speeds;
};

struct PipelineTimes {
  double seconds = 0;
  double mean_work = 0, most_work = 0; // computing and exchanges along columns: of a column of the grid
  std::int64_t panels = 0;
};

// The processes of a column move in lockstep, because they exchange rows for every panel. So each column of the grid
// has one time: that of its slowest process with the most rows of any. Panels go along a row in a chain. A link passes
// one panel after another, and meets no other messages. Time: O(panels (Q + look-ahead)). Errors: a size or a rate is
// not positive; a negative look-ahead; speeds that are not those of P Q processes.
Result<PipelineTimes> pipeline(const PipelineQuestion& question);

} // namespace kumihimo::lu
