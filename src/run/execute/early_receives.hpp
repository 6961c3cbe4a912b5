// Which receives of a program may be written before they are started: all that are reduced or scattered, because their
// bytes wait in memory of the transport, and those whose target no other step touches before.
#pragma once

#include "execute/compiled_program.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::execute {

struct EarlyOp {
  LaneId lane;
  Rank peer{-1};
  std::int64_t segment = 0, ordinal = 0, bytes = 0;
  Area area = Area::none; // none: not straight into the program's memory
  std::int64_t first = 0; // bytes into the area
};

// Those of at least `least_bytes` from other ranks; none where the segments are not resolved once for all. A target
// counts if no other step writes any byte of it, and if the steps that read it come later: always where it is not the
// input too, because it has no content before; else in later rounds of the same segment and lane.
// O(n log n) for n steps, beside reads that overlap.
std::vector<EarlyOp> early_receives(const CompiledProgram& program, std::int64_t least_bytes);

} // namespace kumihimo::execute
