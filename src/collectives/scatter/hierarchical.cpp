// hierarchical: scatter over levels (patterns/levels/hierarchical.cpp): scattered to the leaders, then by them.
// A tree of ranges has no relay for those round the end of a group, whose root is another than its first rank.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::scatter_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(
      Kind::scatter,
      {{{true, Kind::scatter, PartData::groups_of_blocks, StageBuffer::input, StageBuffer::own_results},
        {false, Kind::scatter, PartData::groups_of_blocks, StageBuffer::own_results, StageBuffer::output}},
       "linear",
       "binomial",
       true});
}
