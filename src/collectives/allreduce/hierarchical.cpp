// hierarchical: allreduce over levels (patterns/levels/hierarchical.cpp): reduced within groups, summed up among the
// leaders, broadcast within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::allreduce_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::allreduce, {{{false, Kind::reduce, Meaning::same, Where::input, Where::output},
                                         {true, Kind::allreduce, Meaning::same, Where::output, Where::output},
                                         {false, Kind::bcast, Meaning::same, Where::output, Where::output}},
                                        "binomial",
                                        "recursive_doubling"});
}
