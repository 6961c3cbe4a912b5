// One row of places along x, vectorised: what `simd` and `wavefront` share. The absorbing layer is computed only where
// it is.
#pragma once

#include "stencil/fdtd2d/fields.hpp"

namespace kumihimo::fdtd2d {

// Of places [begin, end) of row y.
void update_h_row(const Fields<float>& fields, std::int64_t y, std::int64_t begin, std::int64_t end);
void update_h_row(const Fields<double>& fields, std::int64_t y, std::int64_t begin, std::int64_t end);
void update_e_row(const Fields<float>& fields, std::int64_t y, std::int64_t begin, std::int64_t end);
void update_e_row(const Fields<double>& fields, std::int64_t y, std::int64_t begin, std::int64_t end);

} // namespace kumihimo::fdtd2d
