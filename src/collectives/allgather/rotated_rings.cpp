// rotated_rings: allgather as rings along the axes on all links of a torus at once
// (patterns/rings/bucket_of_blocks.cpp).
#include "collectives/patterns/rings/rings.hpp"

namespace kumihimo::allgather_rotated_rings {

Variant row() {
  using namespace cost;
  return rotated_rings_of_blocks({sum_of_lengths * alpha + (P - 1) * n / lanes * beta, whole_messages});
}

} // namespace kumihimo::allgather_rotated_rings
