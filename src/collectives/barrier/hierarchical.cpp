// hierarchical: barrier over levels (patterns/levels/hierarchical.cpp): the messages of a reduce, a barrier of the
// leaders and the messages of a broadcast.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::barrier_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::barrier, {{{false, Kind::reduce, Meaning::signals, Where::input, Where::input},
                                       {true, Kind::barrier, Meaning::signals, Where::input, Where::input},
                                       {false, Kind::bcast, Meaning::signals, Where::input, Where::input}},
                                      "binomial",
                                      "dissemination"});
}
