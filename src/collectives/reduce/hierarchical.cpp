// hierarchical: reduce over levels (patterns/levels/hierarchical.cpp): within groups, then among the leaders.
#include "collectives/patterns/levels/hierarchical.hpp"

namespace kumihimo::reduce_hierarchical {

Variant row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::reduce, {{{false, Kind::reduce, Meaning::same, Where::input, Where::held},
                                      {true, Kind::reduce, Meaning::same, Where::held, Where::held}},
                                     "binomial",
                                     "binomial"});
}

} // namespace kumihimo::reduce_hierarchical
