// hierarchical: reduce_scatter over levels (patterns/levels/hierarchical.cpp): reduced at the leaders, reduced and
// scattered among them, scattered within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

namespace kumihimo::reduce_scatter_hierarchical {

Variant row() {
  using enum CollectiveKind;
  return hierarchical(reduce_scatter, {{{false, reduce, Meaning::vector_of_blocks, Where::input, Where::held},
                                        {true, reduce_scatter, Meaning::groups_of_blocks, Where::held, Where::own},
                                        {false, scatter, Meaning::groups_of_blocks, Where::own, Where::output}},
                                       "binomial",
                                       "ring"});
}

} // namespace kumihimo::reduce_scatter_hierarchical
