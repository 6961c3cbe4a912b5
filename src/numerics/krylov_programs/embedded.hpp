// A program as a part of a larger one: its vector lies somewhere in the buffer of the larger one, its lanes and scratch
// are numbered behind those that are there, and its lanes start after lanes of the larger one.
#pragma once

#include "base/result.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::krylov_programs {

struct VectorPlace {
  std::int64_t elements = 0; // of the larger buffer
  std::int64_t first = 0;    // where the vector begins in it
  std::int64_t length = 0;   // of the vector
};

// Error (not_applicable): data in blocks, scratch that names blocks, or parts that are not equal.
Status check_embeddable(const Program& part, std::int64_t length);

// Lanes [first_lane, ...), all after `after`. Returns their ids. `part` is embeddable.
std::vector<LaneId> embed(Program& whole, const Program& part, const VectorPlace& place, std::int32_t first_lane,
                          const std::vector<LaneId>& after);

} // namespace kumihimo::krylov_programs
