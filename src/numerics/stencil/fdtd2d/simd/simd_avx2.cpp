// x86_64: -mavx2
// Empty on other processors.
#if defined(__x86_64__)
#include "stencil/fdtd2d/simd/row_lanes.hpp"

namespace kumihimo::fdtd2d {

const RowSet rows_avx2{"avx2", row_kernels<float, 32>, row_kernels<double, 32>};

} // namespace kumihimo::fdtd2d

#endif
