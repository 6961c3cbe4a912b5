// bine: scatter over a tree of negabinary numbers (patterns/ranges/bine.cpp).
#include "collectives/patterns/ranges/range_tree.hpp"

kumihimo::Variant kumihimo::scatter_bine::row() {
  using namespace cost;
  return bine_ranges({log_P * alpha + (2 * (P - 1) - log_P) * n * beta, powers_of_two});
}
