// binomial: broadcast over a binomial tree, to all children at once (patterns/trees/binomial.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::bcast_binomial::row() {
  using namespace cost;
  return binomial_tree({log_P * alpha + log_P * (log_P + 1) / 2 * n * beta, powers_of_two && whole_messages},
                       Sends::at_once);
}
