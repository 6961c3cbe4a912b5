// The golden copy: the definition of the transform, line by line, and the points of one frequency alone.
#pragma once

#include "fft/bricks.hpp"
#include "fft/line_library.hpp"

#include <functional>
#include <vector>

namespace kumihimo::fft::golden {

// Transforms a dense grid in place by the sum that defines it, along each axis: O(points x (nx + ny + nz)).
void transform(const Triple& points, TransformDirection direction, Complex* grid);

// exp(-2 pi i k / n), or + backward, for all k < n, each correctly rounded but for the last bits.
std::vector<Complex> roots_of_unity(std::int64_t n, TransformDirection direction);

// The part of frequency k that the points of a box contribute. Rows are summed in doubles, their sums in 80 bits.
Complex frequency(const Triple& points, const PointBox& box, const Triple& k, TransformDirection direction,
                  const std::function<const Complex*(std::int64_t x, std::int64_t y)>& row);

} // namespace kumihimo::fft::golden
