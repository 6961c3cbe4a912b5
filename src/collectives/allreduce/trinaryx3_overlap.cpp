// trinaryx3_overlap: reduce, then broadcast, over link-disjoint trees of a torus, segment by segment
// (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

kumihimo::Variant kumihimo::allreduce_trinaryx3_overlap::row() {
  return trinary(trinaryx3_overlap, {trinary_overlapped(trinaryx3_overlap)});
}
