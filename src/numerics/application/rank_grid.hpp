// The grid of ranks over a box of cells or nodes, and the part of each rank.
#pragma once

#include "application/application.hpp"
#include "base/result.hpp"
#include "threads/partition.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::application {

struct RankGrid {
  std::array<std::int32_t, 3> ranks{1, 1, 1}; // along x, y and z; the last one runs fastest in the order of ranks

  std::int32_t count() const { return ranks[0] * ranks[1] * ranks[2]; }
  std::array<std::int32_t, 3> coordinates(std::int32_t rank) const;
  std::int32_t rank_at(const std::array<std::int32_t, 3>& at) const; // -1: outside
  // The cells of a rank along each axis.
  std::array<threads::IndexRange, 3> part(const std::array<std::int64_t, 3>& cells, std::int32_t rank) const;
};

// The grid whose largest face between ranks is smallest, z cut first where it makes no difference, as whole layers of
// cells are one piece of memory. Error: an axis has fewer cells than ranks in every grid.
Result<RankGrid> choose_grid(std::int32_t ranks, const std::array<std::int64_t, 3>& cells);
// "2x1x1". Error: not three numbers, or their product is not `ranks`.
Result<RankGrid> parse_grid(std::string_view text, std::int32_t ranks);
// "128" or "128x96x64": cells along x, y and z. Error: not so, or an axis below 1 or above `most`.
Result<std::array<std::int64_t, 3>> parse_box(std::string_view text, std::int64_t most);
// A quarter and a half of such a box along each axis, for solvers whose iterations grow with the length of the box.
// Those with fewer cells are left out: threads that wait for each other take most of their time. None for other words.
std::vector<ProblemShare> shares_of_box(std::string_view box, std::int64_t most, double fewest_cells);
Status check_fits(const RankGrid& grid, const std::array<std::int64_t, 3>& cells);

} // namespace kumihimo::application
