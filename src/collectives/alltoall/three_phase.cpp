// three_phase: alltoall within three groupings of the ranks (patterns/phases.cpp).
#include "collectives/patterns/phases.hpp"

kumihimo::Variant kumihimo::alltoall_three_phase::row() {
  using namespace cost;
  return grouped_phases(3, {3 * (cube_root_P - 1) * (alpha + cube_root_P * cube_root_P * n * beta), cubes});
}
