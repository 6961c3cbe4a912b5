// hierarchical: alltoall over levels (patterns/levels/hierarchical.cpp): gathered at the leaders, exchanged among them,
// scattered within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::alltoall_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(
      Kind::alltoall,
      {{{false, Kind::gather, PartData::groups_of_blocks, StageBuffer::input, StageBuffer::partial},
        {true, Kind::alltoall, PartData::blocks_of_pairs, StageBuffer::partial, StageBuffer::own_results},
        {false, Kind::scatter, PartData::groups_of_blocks, StageBuffer::own_results, StageBuffer::output}},
       "binomial",
       "pairwise",
       true});
}
