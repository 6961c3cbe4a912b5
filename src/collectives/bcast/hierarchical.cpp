// hierarchical: bcast over levels (patterns/levels/hierarchical.cpp): among the leaders, then within groups.
#include "collectives/patterns/levels/hierarchical.hpp"

namespace kumihimo::bcast_hierarchical {

Variant row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::bcast, {{{true, Kind::bcast, Meaning::same, Where::output, Where::output},
                                     {false, Kind::bcast, Meaning::same, Where::output, Where::output}},
                                    "binomial",
                                    "binomial"});
}

} // namespace kumihimo::bcast_hierarchical
