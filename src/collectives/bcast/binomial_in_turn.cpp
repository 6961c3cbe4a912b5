// binomial_in_turn: broadcast over a binomial tree, to one child after the other (patterns/trees/binomial.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::bcast_binomial_in_turn::row() {
  using namespace cost;
  return binomial_tree({log_P * (alpha + n * beta), powers_of_two && whole_messages}, Sends::in_turn);
}
