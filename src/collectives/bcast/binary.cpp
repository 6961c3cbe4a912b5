// binary: broadcast over one pipelined binary tree (patterns/trees/binary.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::bcast_binary::row() {
  using namespace cost;
  return binary_tree({(2 * (log_P + S) - 3) * (alpha + n / S * beta), powers_of_two && more_than_two});
}
