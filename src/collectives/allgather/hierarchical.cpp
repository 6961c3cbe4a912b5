// hierarchical: allgather over levels (patterns/levels/hierarchical.cpp): gathered at the leaders, exchanged among
// them, broadcast within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::allgather_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::allgather,
                      {{{false, Kind::gather, Meaning::groups_of_blocks, Where::input, Where::output},
                        {true, Kind::allgather, Meaning::groups_of_blocks, Where::output, Where::output},
                        {false, Kind::bcast, Meaning::vector_of_blocks, Where::output, Where::output}},
                       "binomial",
                       "ring"});
}
