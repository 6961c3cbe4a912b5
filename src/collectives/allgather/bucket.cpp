// bucket: allgather as rings along one axis after the other (patterns/rings/bucket_of_blocks.cpp).
#include "collectives/patterns/rings/rings.hpp"

kumihimo::Variant kumihimo::allgather_bucket::row() {
  using namespace cost;
  return bucket_of_blocks({sum_of_lengths * alpha + (P - 1) * n * beta, whole_messages});
}
