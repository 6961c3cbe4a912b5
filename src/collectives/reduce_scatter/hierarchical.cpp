// hierarchical: reduce_scatter over levels (patterns/levels/hierarchical.cpp): reduced at the leaders, reduced and
// scattered among them, scattered within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::reduce_scatter_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(
      Kind::reduce_scatter,
      {{{false, Kind::reduce, PartData::vector_of_blocks, StageBuffer::input, StageBuffer::partial},
        {true, Kind::reduce_scatter, PartData::groups_of_blocks, StageBuffer::partial, StageBuffer::own_results},
        {false, Kind::scatter, PartData::groups_of_blocks, StageBuffer::own_results, StageBuffer::output}},
       "binomial",
       "ring"});
}
