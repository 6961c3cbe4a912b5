// hierarchical: alltoall over levels (patterns/levels/hierarchical.cpp): gathered at the leaders, exchanged among them,
// scattered within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

namespace kumihimo::alltoall_hierarchical {

Variant row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::alltoall, {{{false, Kind::gather, Meaning::groups_of_blocks, Where::input, Where::held},
                                        {true, Kind::alltoall, Meaning::blocks_of_pairs, Where::held, Where::own},
                                        {false, Kind::scatter, Meaning::groups_of_blocks, Where::own, Where::output}},
                                       "binomial",
                                       "pairwise",
                                       true});
}

} // namespace kumihimo::alltoall_hierarchical
