// hierarchical: allreduce over levels (patterns/levels/hierarchical.cpp): reduced within groups, summed up among the
// leaders, broadcast within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

namespace kumihimo::allreduce_hierarchical {

Variant row() {
  using enum CollectiveKind;
  return hierarchical(allreduce, {{{false, reduce, Meaning::same, Where::input, Where::output},
                                   {true, allreduce, Meaning::same, Where::output, Where::output},
                                   {false, bcast, Meaning::same, Where::output, Where::output}},
                                  "binomial",
                                  "recursive_doubling"});
}

} // namespace kumihimo::allreduce_hierarchical
