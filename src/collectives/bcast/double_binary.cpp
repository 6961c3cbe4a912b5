// double_binary: broadcast over two pipelined binary trees (patterns/trees/binary.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::bcast_double_binary::row() {
  using namespace cost;
  return double_binary_tree(
      {(2 * (log_P + S) - 3) * (alpha + n / (2 * S) * beta), powers_of_two && more_than_two && many_segments});
}
