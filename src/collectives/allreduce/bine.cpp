// bine: allreduce over the butterfly of Bine trees (patterns/butterflies/swing.cpp).
#include "collectives/patterns/butterflies/nested.hpp"

kumihimo::Variant kumihimo::allreduce_bine::row() {
  using namespace cost;
  return bine_butterfly(
      {2 * log_P * alpha + 2 * (1 - 1 / P) * n * beta + (1 - 1 / P) * n * gamma, powers_of_two && whole_messages});
}
