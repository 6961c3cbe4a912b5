// non_minimal: allreduce halving with the farthest partner when least is exchanged
// (patterns/butterflies/non_minimal.cpp).
#include "collectives/patterns/butterflies/nested.hpp"

kumihimo::Variant kumihimo::allreduce_non_minimal::row() {
  using namespace cost;
  return non_minimal_butterfly(
      {2 * log_P * alpha + 2 * (1 - 1 / P) * n * beta + (1 - 1 / P) * n * gamma, powers_of_two && whole_messages});
}
