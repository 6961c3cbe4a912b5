// bine: reduce_scatter over the butterfly of Bine trees (patterns/butterflies/swing.cpp).
#include "collectives/patterns/butterflies/nested.hpp"

kumihimo::Variant kumihimo::reduce_scatter_bine::row() {
  using namespace cost;
  return bine_butterfly(
      {(log_P + 1) * alpha + P * n * beta + (P - 1) * n * gamma, powers_of_two && more_than_two && whole_messages});
}
