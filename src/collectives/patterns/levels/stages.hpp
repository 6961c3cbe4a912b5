// A collective as stages, within all groups of ranks or among their leaders, in the order in which they run: what the
// combinator of levels (hierarchical.cpp) goes by. Each collective has a row in families/hierarchical.cpp.
#pragma once

#include "collectives/patterns/levels/embed.hpp"
#include "schedule/collective.hpp"

namespace kumihimo {

// Where a stage's data lie. `partial`: at leaders, what their groups have reduced or sent; in a reduce it is the output
// at the root. `own_results`: at leaders, the results of their groups' ranks.
enum class StageBuffer : std::uint8_t { input, output, partial, own_results };

struct StageRow {
  bool between; // leaders; else within all groups
  CollectiveKind kind;
  PartData meaning;
  StageBuffer from, to;

  // Both the user's own buffers, at some rank; the root's in a reduce.
  bool from_input_to_output() const {
    return from == StageBuffer::input &&
           (to == StageBuffer::output || (to == StageBuffer::partial && meaning == PartData::same));
  }
};

} // namespace kumihimo
