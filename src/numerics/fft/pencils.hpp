// The decompositions of a transform in three dimensions. Ranks form a grid of rows and columns, rank = row x columns +
// column. While lines along an axis are transformed, that axis is whole on each rank, and the grid divides the others:
// x over rows and y over columns for lines along z, x and z for lines along y, y and z for lines along x. With one
// column ranks have slabs: whole planes of y and z, and one exchange less.
#pragma once

#include "base/result.hpp"
#include "fft/point_box.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kumihimo::fft {

struct RankPencils {
  Triple points{};
  std::int32_t rows = 1, columns = 1;

  std::int32_t ranks() const { return rows * columns; }
  // The points of a rank while lines along `axis` are transformed; empty where there are more ranks than lines.
  PointBox box(std::size_t axis, std::int32_t rank) const;
  std::vector<PointBox> boxes(std::size_t axis) const; // of all ranks
  // Ranks that exchange points between lines along z and y, and between lines along y and x; ascending.
  std::vector<std::int32_t> row_of(std::int32_t rank) const;
  std::vector<std::int32_t> column_of(std::int32_t rank) const;
};

// `grid`: "auto" (slabs while every rank gets a plane, then pencils), "slab", "pencil" (rows and columns as equal as
// the number of ranks allows), or "4x2": rows and columns. Error: none of these; their product is not `ranks`.
Result<RankPencils> parse_pencils(const Triple& points, std::int32_t ranks, std::string_view grid);

} // namespace kumihimo::fft
