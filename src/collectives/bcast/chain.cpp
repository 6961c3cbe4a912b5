// chain: broadcast along a pipeline of all ranks (patterns/trees/chain.cpp).
#include "collectives/patterns/trees/tree.hpp"

namespace kumihimo::bcast_chain {

Variant row() {
  using namespace cost;
  return chain({(P + S - 2) * (alpha + n / S * beta)});
}

} // namespace kumihimo::bcast_chain
