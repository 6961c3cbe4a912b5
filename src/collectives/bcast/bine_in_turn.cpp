// bine_in_turn: broadcast over a binomial tree of negabinary numbers, to one child after the other
// (patterns/trees/bine.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::bcast_bine_in_turn::row() {
  using namespace cost;
  return bine_tree({log_P * (alpha + n * beta), powers_of_two && whole_messages}, Sends::in_turn);
}
