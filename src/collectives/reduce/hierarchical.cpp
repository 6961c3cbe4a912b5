// hierarchical: reduce over levels (patterns/levels/hierarchical.cpp): within groups, then among the leaders.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::reduce_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::reduce, {{{false, Kind::reduce, PartData::same, StageBuffer::input, StageBuffer::partial},
                                      {true, Kind::reduce, PartData::same, StageBuffer::partial, StageBuffer::partial}},
                                     "binomial",
                                     "binomial"});
}
