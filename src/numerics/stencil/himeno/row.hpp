// One row of cells along k, vectorised: what `simd` and `wavefront` share.
#pragma once

#include "stencil/himeno/grid.hpp"

namespace kumihimo::himeno {

// `to` of the cells [n, n + count) from `p`; n is a place of HimenoGrid::at. Returns the sum of squared residuals,
// added in lanes: its rounding differs from the golden copy's, `to` does not.
double update_row(const HimenoGrid& grid, const float* p, float* to, std::int64_t n, std::int64_t count);

} // namespace kumihimo::himeno
