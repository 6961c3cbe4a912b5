// chain: reduce, then broadcast, along a pipeline of all ranks (patterns/trees/chain.cpp).
#include "collectives/patterns/trees/tree.hpp"

namespace kumihimo::allreduce_chain {

Variant row() {
  using namespace cost;
  return chain({2 * (P + S - 2) * (alpha + n / S * beta) + (P - 1) * n / S * gamma});
}

} // namespace kumihimo::allreduce_chain
