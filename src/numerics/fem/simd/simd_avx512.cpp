// x86_64: -mavx512f -mavx512dq -mavx512vl -mfma
// Empty on other processors.
#if defined(__x86_64__)
#include "fem/simd/assemble_lanes.hpp"
#include "fem/simd/matrix_free_lanes.hpp"

namespace kumihimo::fem {

const LaneLoops loops_avx512{8, assemble_lanes<8>, multiply_lanes<8>};

} // namespace kumihimo::fem

#endif
