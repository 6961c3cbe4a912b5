// bine: reduce over a binomial tree of negabinary numbers (patterns/trees/bine.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::reduce_bine::row() {
  using namespace cost;
  Variant v = bine_tree({log_P * (alpha + n * beta + n * gamma), whole_messages}, Sends::in_turn);
  v.summary = "a binomial tree over distances ..., 11, 5, 3, 1, 1, to alternate sides";
  return v;
}
