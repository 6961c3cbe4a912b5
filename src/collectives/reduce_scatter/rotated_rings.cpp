// rotated_rings: reduce-scatter as rings along the axes on all links of a torus at once
// (patterns/rings/bucket_of_blocks.cpp).
#include "collectives/patterns/rings/rings.hpp"

kumihimo::Variant kumihimo::reduce_scatter_rotated_rings::row() {
  using namespace cost;
  return rotated_rings_of_blocks(
      {sum_of_lengths * alpha + (P - 1) * n / lanes * beta + (P - 1) * n * gamma, whole_messages && equal_axes});
}
