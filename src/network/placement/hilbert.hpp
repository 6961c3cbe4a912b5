// The places of a box along a Hilbert curve, for boxes of any lengths and any number of axes.
//
// The axes that are longer than half the longest one are halved together. Their 2^k parts follow each other in Gray
// code, each entered at the corner and left along the axis that connect it with the next part (C. Hamilton, "Compact
// Hilbert indices", Dalhousie University CS-2006-07, formulas for e(i) and d(i)). Where all lengths are powers of two,
// successive places are neighbours; elsewhere some steps are longer.
#pragma once

#include "topology/shape.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo {

// All places of the box in the order of the curve, which starts at place 0.
std::vector<std::int32_t> places_along_hilbert_curve(const Shape& box);

} // namespace kumihimo
