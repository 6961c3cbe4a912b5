// hierarchical: allgather over levels (patterns/levels/hierarchical.cpp): gathered at the leaders, exchanged among
// them, broadcast within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

namespace kumihimo::allgather_hierarchical {

Variant row() {
  using enum CollectiveKind;
  return hierarchical(allgather, {{{false, gather, Meaning::groups_of_blocks, Where::input, Where::output},
                                   {true, allgather, Meaning::groups_of_blocks, Where::output, Where::output},
                                   {false, bcast, Meaning::vector_of_blocks, Where::output, Where::output}},
                                  "binomial",
                                  "ring"});
}

} // namespace kumihimo::allgather_hierarchical
