// bucket: allreduce as rings along one axis after the other (patterns/rings/bucket.cpp).
#include "collectives/patterns/rings/rings.hpp"

kumihimo::Variant kumihimo::allreduce_bucket::row() {
  using namespace cost;
  return bucket({2 * sum_of_lengths * alpha + 2 * (1 - 1 / P) * n * beta + (1 - 1 / P) * n * gamma, whole_messages});
}
