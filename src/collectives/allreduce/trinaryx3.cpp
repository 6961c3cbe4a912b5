// trinaryx3: reduce, then broadcast, over link-disjoint trees of a torus (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

kumihimo::Variant kumihimo::allreduce_trinaryx3::row() {
  return trinary(trinaryx3, {trinary_reduce(trinaryx3) + trinary_bcast(trinaryx3)});
}
