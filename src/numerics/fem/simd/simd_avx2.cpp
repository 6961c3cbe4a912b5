// x86_64: -mavx2 -mfma
// Empty on other processors.
#if defined(__x86_64__)
#include "fem/simd/assemble_lanes.hpp"
#include "fem/simd/matrix_free_lanes.hpp"

namespace kumihimo::fem {

const LaneLoops loops_avx2{4, assemble_lanes<4>, multiply_lanes<4>};

} // namespace kumihimo::fem

#endif
