// linear: broadcast between the root and every other rank (patterns/trees/star.cpp).
#include "collectives/patterns/trees/tree.hpp"

namespace kumihimo::bcast_linear {

Variant row() {
  using namespace cost;
  return star({(P - 1) * (alpha + n * beta), whole_messages});
}

} // namespace kumihimo::bcast_linear
