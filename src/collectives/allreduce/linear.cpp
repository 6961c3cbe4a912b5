// linear: reduce, then broadcast, between the root and every other rank (patterns/trees/star.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::allreduce_linear::row() {
  using namespace cost;
  return star({(P - 1) * (2 * alpha + 2 * n * beta + n * gamma), whole_messages});
}
