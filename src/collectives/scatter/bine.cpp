// bine: scatter over a tree of negabinary numbers (patterns/ranges/bine.cpp).
#include "collectives/patterns/ranges/range_tree.hpp"

kumihimo::Variant kumihimo::scatter_bine::row() {
  using namespace cost;
  return bine_ranges({log_P * alpha + (P - 1) * n * beta, powers_of_two});
}
