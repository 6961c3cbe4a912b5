// The golden copy: the definition of the transform, line by line, and the points of one frequency alone.
#pragma once

#include "fft/bricks.hpp"
#include "fft/line_library.hpp"

#include <functional>
#include <vector>

namespace kumihimo::fft::golden {

// Transforms a dense grid in place by the sum that defines it, along each axis: O(points x (nx + ny + nz)).
void transform(const Triple& points, TransformDirection direction, Complex* grid);

// The same by the factors of each length (J. Cooley and J. Tukey, Math. Comp. 19 (1965) 297): a line of n points takes
// n times the sum of its prime factors.
void transform_by_factors(const Triple& points, TransformDirection direction, Complex* grid);
// By the sum where the grid has at most so many points, else by factors.
inline constexpr std::int64_t most_points_of_sum = 1 << 15;
void transform_of_any_size(const Triple& points, TransformDirection direction, Complex* grid);

// The other frequencies of a real grid's spectrum, of which the dense `spectrum` has those from 0 to nz / 2 along z:
// frequency k is the conjugate of frequency -k.
void fill_other_half(const Triple& points, Complex* spectrum);

// exp(-2 pi i k / n), or + backward, for all k < n, each correctly rounded but for the last bits.
std::vector<Complex> roots_of_unity(std::int64_t n, TransformDirection direction);

// The part of frequency k that the points of a box contribute. Rows are summed in doubles, their sums in 80 bits.
Complex frequency(const Triple& points, const PointBox& box, const Triple& k, TransformDirection direction,
                  const std::function<const Complex*(std::int64_t x, std::int64_t y)>& row);

} // namespace kumihimo::fft::golden
