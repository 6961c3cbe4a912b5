// hierarchical: gather over levels (patterns/levels/hierarchical.cpp): gathered at the leaders, then from them.
// A tree of ranges has no relay for those round the end of a group, whose root is another than its first rank.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::gather_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::gather,
                      {{{false, Kind::gather, PartData::groups_of_blocks, StageBuffer::input, StageBuffer::partial},
                        {true, Kind::gather, PartData::groups_of_blocks, StageBuffer::partial, StageBuffer::output}},
                       "linear",
                       "binomial",
                       true});
}
