// Vectors of 16 bytes, which every 64-bit processor has.
#include "stencil/fdtd2d/simd/row_lanes.hpp"

namespace kumihimo::fdtd2d {

const RowSet rows_baseline{"baseline", row_kernels<float, 16>, row_kernels<double, 16>};

} // namespace kumihimo::fdtd2d
