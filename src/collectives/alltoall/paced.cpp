// paced: alltoall along one axis of a torus after the other, paced (patterns/phases.cpp).
#include "collectives/patterns/phases.hpp"

kumihimo::Variant kumihimo::alltoall_paced::row() {
  using namespace cost;
  return paced_phases({sum_of_lengths * alpha + n * P * longest / 8 * beta,
                       {"a torus whose links alone limit it", [](const CostCase&) { return false; }}});
}
