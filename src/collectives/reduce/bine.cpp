// bine: reduce over a binomial tree of negabinary numbers (patterns/trees/bine.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::reduce_bine::row() {
  using namespace cost;
  return bine_tree({log_P * (alpha + n * beta + n * gamma), whole_messages});
}
