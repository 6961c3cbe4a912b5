// chain: reduce, then broadcast, along a pipeline of all ranks (patterns/trees/chain.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::allreduce_chain::row() {
  using namespace cost;
  return chain({2 * (P + S - 2) * (alpha + n / S * beta) + (P - 1) * n / S * gamma});
}
