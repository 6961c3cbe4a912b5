// binary: broadcast over one pipelined binary tree (patterns/trees/binary.cpp).
#include "collectives/patterns/trees/tree.hpp"

namespace kumihimo::bcast_binary {

Variant row() {
  using namespace cost;
  return binary_tree({(2 * (log_P + S) - 3) * (alpha + n / S * beta), powers_of_two && more_than_two});
}

} // namespace kumihimo::bcast_binary
