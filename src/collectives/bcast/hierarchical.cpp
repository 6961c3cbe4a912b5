// hierarchical: bcast over levels (patterns/levels/hierarchical.cpp): among the leaders, then within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::bcast_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::bcast, {{{true, Kind::bcast, PartData::same, StageBuffer::output, StageBuffer::output},
                                     {false, Kind::bcast, PartData::same, StageBuffer::output, StageBuffer::output}},
                                    "binomial",
                                    "binomial"});
}
