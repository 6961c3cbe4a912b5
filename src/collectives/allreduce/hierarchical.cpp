// hierarchical: allreduce over levels (patterns/levels/hierarchical.cpp): reduced within groups, summed up among the
// leaders, broadcast within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::allreduce_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::allreduce,
                      {{{false, Kind::reduce, PartData::same, StageBuffer::input, StageBuffer::output},
                        {true, Kind::allreduce, PartData::same, StageBuffer::output, StageBuffer::output},
                        {false, Kind::bcast, PartData::same, StageBuffer::output, StageBuffer::output}},
                       "binomial",
                       "recursive_doubling"});
}
