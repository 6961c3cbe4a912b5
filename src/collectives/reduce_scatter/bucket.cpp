// bucket: reduce-scatter as rings along one axis after the other (patterns/rings/bucket_of_blocks.cpp).
#include "collectives/patterns/rings/rings.hpp"

kumihimo::Variant kumihimo::reduce_scatter_bucket::row() {
  using namespace cost;
  return bucket_of_blocks({sum_of_lengths * alpha + (P - 1) * n * beta + (P - 1) * n * gamma, whole_messages});
}
