// Halo exchanges of a grid of ranks as traffic: "16x16x16:27". Rank numbers are row-major, the last axis runs fastest.
#pragma once

#include "topology/shape.hpp"
#include "traffic/traffic.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace kumihimo {

struct GridPattern {
  Shape shape;    // of 1 to 4 axes; an axis that does not wrap has a boundary
  int points = 7; // d axes: 2d + 1, or 3^d with diagonal neighbours
  // Bytes that a rank sends to a neighbour that differs in 1 (face), 2 (edge), 3 and 4 coordinates (corner).
  std::array<std::int64_t, 4> bytes_by_axes = {32768, 512, 8, 8};

  // "16x16x16:27", "16x16mx4:7,face=32KiB", "8x8x8:27,edge=512,corner=8,mesh". `m` after a length: that axis does not
  // wrap; `mesh`: none does. Errors name the word: a shape of other than 1 to 4 axes or one rank; points that these
  // axes do not have; an unknown or repeated word; a size out of range; too much traffic.
  static Result<GridPattern> parse(std::string_view text);
};

// One message to each neighbour, as parse() allows it. Neighbours without bytes get none. Where a rank meets another
// one in several directions, around a short axis, these are summed.
Traffic traffic_of(const GridPattern& pattern);

} // namespace kumihimo
