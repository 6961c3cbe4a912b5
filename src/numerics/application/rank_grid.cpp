#include "application/rank_grid.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kumihimo::application {
namespace {

// Cells of the largest part's faces towards other ranks.
double face_cells(const RankGrid& grid, const std::array<std::int64_t, 3>& cells) {
  std::array<double, 3> part{};
  for (std::size_t a = 0; a < 3; ++a) part[a] = static_cast<double>((cells[a] + grid.ranks[a] - 1) / grid.ranks[a]);
  double faces = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (grid.ranks[a] > 1) faces += (grid.ranks[a] > 2 ? 2 : 1) * part[(a + 1) % 3] * part[(a + 2) % 3];
  return faces;
}

bool fits(const RankGrid& grid, const std::array<std::int64_t, 3>& cells) {
  for (std::size_t a = 0; a < 3; ++a)
    if (grid.ranks[a] > cells[a]) return false;
  return true;
}

} // namespace

std::array<std::int32_t, 3> RankGrid::coordinates(std::int32_t rank) const {
  return {rank / (ranks[1] * ranks[2]), rank / ranks[2] % ranks[1], rank % ranks[2]};
}

std::int32_t RankGrid::rank_at(const std::array<std::int32_t, 3>& at) const {
  for (std::size_t a = 0; a < 3; ++a)
    if (at[a] < 0 || at[a] >= ranks[a]) return -1;
  return (at[0] * ranks[1] + at[1]) * ranks[2] + at[2];
}

std::array<threads::IndexRange, 3> RankGrid::part(const std::array<std::int64_t, 3>& cells, std::int32_t rank) const {
  const std::array<std::int32_t, 3> at = coordinates(rank);
  std::array<threads::IndexRange, 3> mine;
  for (std::size_t a = 0; a < 3; ++a) mine[a] = threads::part(cells[a], at[a], ranks[a]);
  return mine;
}

Result<RankGrid> choose_grid(std::int32_t ranks, const std::array<std::int64_t, 3>& cells) {
  std::optional<RankGrid> best;
  double least = 0;
  for (std::int32_t x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (std::int32_t y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const RankGrid grid{{x, y, ranks / x / y}};
      if (!fits(grid, cells)) continue;
      const double faces = face_cells(grid, cells);
      if (!best || faces < least) best = grid, least = faces;
    }
  }
  if (best) return *best;
  return wrong_value(fmt::format("no grid of {} ranks fits {}x{}x{} cells", ranks, cells[0], cells[1], cells[2]), {},
                     "use fewer ranks or a larger size");
}

Result<RankGrid> parse_grid(std::string_view text, std::int32_t ranks) {
  const auto found = text.find('x') == std::string_view::npos ? std::nullopt : box_in(text);
  if (!found) return wrong_value("the grid of ranks must be three numbers such as 2x1x1", fmt::format("'{}'", text));
  std::int64_t product = 1;
  for (const std::int64_t n : *found) product = n > ranks ? ranks + std::int64_t{1} : product * n;
  if (product != ranks)
    return wrong_value(fmt::format("the grid must have as many ranks as there are processes, {}", ranks),
                       std::string(text), "leave --grid out");
  RankGrid grid;
  for (std::size_t a = 0; a < 3; ++a) grid.ranks[a] = static_cast<std::int32_t>((*found)[a]);
  return grid;
}

Result<std::array<std::int64_t, 3>> parse_box(std::string_view text, std::int64_t most) {
  const auto found = box_in(text);
  if (!found) return wrong_value("the size must be one number or three such as 128x96x64", fmt::format("'{}'", text));
  for (const std::int64_t n : *found)
    if (n > most) return wrong_value(fmt::format("the size must be at most {} along an axis", most), n);
  return *found;
}

std::vector<ProblemShare> shares_of_box(std::string_view box, std::int64_t most, double fewest_cells) {
  const Result<std::array<std::int64_t, 3>> whole = parse_box(box, most);
  if (!whole) return {};
  std::vector<ProblemShare> found;
  for (const std::int64_t divisor : {4, 2}) {
    std::array<std::int64_t, 3> less{};
    double work = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      less[a] = ((*whole)[a] + divisor - 1) / divisor;
      work *= static_cast<double>((*whole)[a]) / static_cast<double>(less[a]);
    }
    if (static_cast<double>(less[0]) * static_cast<double>(less[1]) * static_cast<double>(less[2]) >= fewest_cells)
      found.push_back({fmt::format("{}x{}x{}", less[0], less[1], less[2]), work, std::cbrt(work)});
  }
  return found;
}

Status check_fits(const RankGrid& grid, const std::array<std::int64_t, 3>& cells) {
  constexpr const char* axes[] = {"x", "y", "z"};
  for (std::size_t a = 0; a < 3; ++a)
    if (grid.ranks[a] > cells[a])
      return wrong_value(fmt::format("{} ranks along {} need at least as many cells", grid.ranks[a], axes[a]), cells[a],
                         "use another --grid or a larger --size");
  return Nothing{};
}

} // namespace kumihimo::application
