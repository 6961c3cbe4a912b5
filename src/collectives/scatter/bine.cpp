// bine: scatter over a tree of negabinary numbers (patterns/ranges/bine.cpp).
#include "collectives/patterns/ranges/range_tree.hpp"

namespace kumihimo::scatter_bine {

Variant row() {
  using namespace cost;
  return bine_ranges({log_P * alpha + (2 * (P - 1) - log_P) * n * beta, powers_of_two});
}

} // namespace kumihimo::scatter_bine
