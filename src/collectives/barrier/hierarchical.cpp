// hierarchical: barrier over levels (patterns/levels/hierarchical.cpp): the messages of a reduce, a barrier of the
// leaders and the messages of a broadcast.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::barrier_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::barrier, {{{false, Kind::reduce, PartData::signals, StageBuffer::input, StageBuffer::input},
                                       {true, Kind::barrier, PartData::signals, StageBuffer::input, StageBuffer::input},
                                       {false, Kind::bcast, PartData::signals, StageBuffer::input, StageBuffer::input}},
                                      "binomial",
                                      "dissemination"});
}
