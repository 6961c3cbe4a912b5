// non_minimal: allgather halving with the farthest partner when least is exchanged
// (patterns/butterflies/non_minimal.cpp).
#include "collectives/patterns/butterflies/nested.hpp"

kumihimo::Variant kumihimo::allgather_non_minimal::row() {
  using namespace cost;
  return non_minimal_butterfly({(log_P + 1) * alpha + P * n * beta, powers_of_two && more_than_two && whole_messages});
}
