// binomial_in_turn: reduce, then broadcast to one child after the other, over a binomial tree
// (patterns/trees/binomial.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::allreduce_binomial_in_turn::row() {
  using namespace cost;
  return binomial_tree({log_P * (2 * alpha + 2 * n * beta + n * gamma), powers_of_two && whole_messages},
                       Sends::in_turn);
}
