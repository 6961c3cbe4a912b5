// rotated_rings: allreduce as rings along the axes on all links of a torus at once (patterns/rings/bucket.cpp).
#include "collectives/patterns/rings/rings.hpp"

kumihimo::Variant kumihimo::allreduce_rotated_rings::row() {
  using namespace cost;
  return rotated_rings({2 * sum_of_lengths * alpha + 2 * (1 - 1 / P) * n / lanes * beta + (1 - 1 / P) * n * gamma,
                        whole_messages && equal_axes});
}
