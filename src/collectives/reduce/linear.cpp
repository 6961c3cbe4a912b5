// linear: reduce between the root and every other rank (patterns/trees/star.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::reduce_linear::row() {
  using namespace cost;
  return star({(P - 1) * (alpha + n * beta + n * gamma), whole_messages});
}
