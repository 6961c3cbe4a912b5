// hierarchical: bcast over levels (patterns/levels/hierarchical.cpp): among the leaders, then within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

namespace kumihimo::bcast_hierarchical {

Variant row() {
  using enum CollectiveKind;
  return hierarchical(bcast, {{{true, bcast, Meaning::same, Where::output, Where::output},
                               {false, bcast, Meaning::same, Where::output, Where::output}},
                              "binomial",
                              "binomial"});
}

} // namespace kumihimo::bcast_hierarchical
