// hierarchical: alltoall over levels (patterns/levels/hierarchical.cpp): gathered at the leaders, exchanged among them,
// scattered within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::alltoall_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::alltoall, {{{false, Kind::gather, Meaning::groups_of_blocks, Where::input, Where::held},
                                        {true, Kind::alltoall, Meaning::blocks_of_pairs, Where::held, Where::own},
                                        {false, Kind::scatter, Meaning::groups_of_blocks, Where::own, Where::output}},
                                       "binomial",
                                       "pairwise",
                                       true});
}
