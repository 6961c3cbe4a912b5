// bine: broadcast over a binomial tree of negabinary numbers, to all children at once (patterns/trees/bine.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::bcast_bine::row() {
  using namespace cost;
  return bine_tree({log_P * alpha + log_P * (log_P + 1) / 2 * n * beta, powers_of_two && whole_messages},
                   Sends::at_once);
}
