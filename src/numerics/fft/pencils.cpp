#include "fft/pencils.hpp"

#include "base/text_parsing.hpp"
#include "threads/partition.hpp"

#include <fmt/format.h>

#include <string>

namespace kumihimo::fft {
namespace {

// The largest divisor of `ranks` that is at most its root, for columns.
std::int32_t near_root(std::int32_t ranks) {
  std::int32_t columns = 1;
  for (std::int32_t d = 1; static_cast<std::int64_t>(d) * d <= ranks; ++d)
    if (ranks % d == 0) columns = d;
  return columns;
}

} // namespace

PointBox RankPencils::box(std::size_t axis, std::int32_t rank) const {
  PointBox box = whole_box(points);
  const auto divide = [&](std::size_t along, std::int32_t place, std::int32_t places) {
    const threads::IndexRange part = threads::part(points[along], place, places);
    box.begin[along] = part.begin;
    box.end[along] = part.end;
  };
  divide(axis == 0 ? 1 : 0, rank / columns, rows);
  divide(axis == 2 ? 1 : 2, rank % columns, columns);
  return box;
}

std::vector<PointBox> RankPencils::boxes(std::size_t axis) const {
  std::vector<PointBox> all;
  for (std::int32_t rank = 0; rank < ranks(); ++rank) all.push_back(box(axis, rank));
  return all;
}

std::vector<std::int32_t> RankPencils::row_of(std::int32_t rank) const {
  std::vector<std::int32_t> row;
  for (std::int32_t column = 0; column < columns; ++column) row.push_back(rank / columns * columns + column);
  return row;
}

std::vector<std::int32_t> RankPencils::column_of(std::int32_t rank) const {
  std::vector<std::int32_t> column;
  for (std::int32_t row = 0; row < rows; ++row) column.push_back(row * columns + rank % columns);
  return column;
}

Result<RankPencils> parse_pencils(const Triple& points, std::int32_t ranks, std::string_view grid) {
  RankPencils made{points, ranks, 1};
  const bool planes_for_all = ranks <= std::min(points[0], points[1]);
  if (grid == "slab" || (grid == "auto" && planes_for_all)) return made;
  if (grid == "pencil" || grid == "auto") {
    made.columns = near_root(ranks);
    made.rows = ranks / made.columns;
    return made;
  }
  const std::size_t cross = grid.find('x');
  if (cross == std::string_view::npos || !read_number(std::string(grid.substr(0, cross)), made.rows) ||
      !read_number(std::string(grid.substr(cross + 1)), made.columns) || made.rows < 1 || made.columns < 1)
    return wrong_value("the decomposition must be auto, slab, pencil, or rows x columns such as 4x2",
                       fmt::format("'{}'", grid));
  if (static_cast<std::int64_t>(made.rows) * made.columns != ranks)
    return wrong_value(fmt::format("rows x columns must be the number of ranks, {}", ranks), grid);
  return made;
}

} // namespace kumihimo::fft
