// The combinator of levels as a row of any collective that is made of stages.
#pragma once

#include "collectives/patterns/levels/stages.hpp"
#include "collectives/registry.hpp"

namespace kumihimo {

struct Levels {
  std::vector<StageRow> stages;
  std::string inner, outer;   // the algorithms where none are asked for
  bool relays_blocks = false; // leaders pass on blocks of their groups' ranks
};

Variant hierarchical(CollectiveKind kind, Levels levels);

} // namespace kumihimo
