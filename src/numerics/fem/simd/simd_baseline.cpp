#include "fem/simd/assemble_lanes.hpp"
#include "fem/simd/matrix_free_lanes.hpp"

namespace kumihimo::fem {

const LaneLoops loops_baseline{2, assemble_lanes<2>, multiply_lanes<2>};

} // namespace kumihimo::fem
