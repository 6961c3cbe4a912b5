// binomial: reduce, then broadcast to all children at once, over a binomial tree
// (patterns/trees/binomial.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::allreduce_binomial::row() {
  using namespace cost;
  return binomial_tree(
      {2 * log_P * alpha + log_P * (log_P + 3) / 2 * n * beta + log_P * n * gamma, powers_of_two && whole_messages},
      Sends::at_once);
}
