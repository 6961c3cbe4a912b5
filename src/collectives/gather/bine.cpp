// bine: gather over a tree of negabinary numbers (patterns/ranges/bine.cpp).
#include "collectives/patterns/ranges/range_tree.hpp"

namespace kumihimo::gather_bine {

Variant row() {
  using namespace cost;
  return bine_ranges({log_P * alpha + (P - 1) * n * beta, powers_of_two});
}

} // namespace kumihimo::gather_bine
