// hierarchical: reduce over levels (patterns/levels/hierarchical.cpp): within groups, then among the leaders.
#include "collectives/patterns/levels/hierarchical.hpp"

kumihimo::Variant kumihimo::reduce_hierarchical::row() {
  using Kind = CollectiveKind;
  return hierarchical(Kind::reduce, {{{false, Kind::reduce, Meaning::same, Where::input, Where::held},
                                      {true, Kind::reduce, Meaning::same, Where::held, Where::held}},
                                     "binomial",
                                     "binomial"});
}
