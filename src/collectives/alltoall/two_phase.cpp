// two_phase: alltoall within two groupings of the ranks (patterns/phases.cpp).
#include "collectives/patterns/phases.hpp"

kumihimo::Variant kumihimo::alltoall_two_phase::row() {
  using namespace cost;
  return grouped_phases(2, {2 * (root_P - 1) * (alpha + root_P * n * beta), squares});
}
