// double_binary: reduce over two pipelined binary trees (patterns/trees/binary.cpp).
#include "collectives/patterns/trees/tree.hpp"

kumihimo::Variant kumihimo::reduce_double_binary::row() {
  using namespace cost;
  const Formula m = n / (2 * S);
  return double_binary_tree(
      {(2 * log_P - 1) * (alpha + m * (beta + gamma)) + (S - 1) * max(alpha + m * beta, 2 * m * beta),
       powers_of_two && more_than_two && many_segments});
}
