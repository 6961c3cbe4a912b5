// x86_64: -mavx512f
// Empty on other processors.
#if defined(__x86_64__)
#include "stencil/fdtd2d/simd/row_lanes.hpp"

namespace kumihimo::fdtd2d {

const RowSet rows_avx512{"avx512", row_kernels<float, 64>, row_kernels<double, 64>};

} // namespace kumihimo::fdtd2d

#endif
