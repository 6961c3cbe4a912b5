// binary: reduce over one pipelined binary tree (patterns/trees/binary.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::reduce_binary::row() {
  using namespace cost;
  const Formula m = n / S;
  Variant v =
      binary_tree({(2 * log_P - 1) * (alpha + m * (beta + gamma)) + (S - 1) * max(alpha + m * beta, 2 * m * beta),
                   powers_of_two && more_than_two});
  v.reproducible = long_messages;
  return v;
}
