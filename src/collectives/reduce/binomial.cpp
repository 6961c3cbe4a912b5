// binomial: reduce over a binomial tree (patterns/trees/binomial.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::reduce_binomial::row() {
  using namespace cost;
  Variant v = binomial_tree({log_P * (alpha + n * beta + n * gamma), powers_of_two && whole_messages}, Sends::in_turn);
  v.summary = "one binomial tree, the whole message at once";
  v.reproducible = short_messages;
  return v;
}
