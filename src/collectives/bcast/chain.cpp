// chain: broadcast along a pipeline of all ranks (patterns/trees/chain.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::bcast_chain::row() {
  using namespace cost;
  return chain({(P + S - 2) * (alpha + n / S * beta)});
}
