// hierarchical: reduce_scatter over levels (patterns/levels/hierarchical.cpp): reduced at the leaders, reduced and
// scattered among them, scattered within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::reduce_scatter_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::reduce_scatter,
                      {{{false, Kind::reduce, Meaning::vector_of_blocks, Where::input, Where::held},
                        {true, Kind::reduce_scatter, Meaning::groups_of_blocks, Where::held, Where::own},
                        {false, Kind::scatter, Meaning::groups_of_blocks, Where::own, Where::output}},
                       "binomial",
                       "ring"});
}
