// hierarchical: allgather over levels (patterns/levels/hierarchical.cpp): gathered at the leaders, exchanged among
// them, broadcast within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::allgather_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::allgather,
                      {{{false, Kind::gather, PartData::groups_of_blocks, StageBuffer::input, StageBuffer::output},
                        {true, Kind::allgather, PartData::groups_of_blocks, StageBuffer::output, StageBuffer::output},
                        {false, Kind::bcast, PartData::vector_of_blocks, StageBuffer::output, StageBuffer::output}},
                       "binomial",
                       "ring"});
}
