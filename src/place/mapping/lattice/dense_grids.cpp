#include "mapping/lattice/dense_grids.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace kumihimo::mapping {
namespace {

bool all_have(const Links& links, std::size_t neighbours) {
  for (std::int32_t vertex = 0; vertex < links.vertices(); ++vertex)
    if (links.of(vertex).size() != neighbours) return false;
  return true;
}

// Whether the places are those of the shape, each once.
bool is_numbering(const std::vector<std::int32_t>& places) {
  std::vector<bool> seen(places.size());
  for (const std::int32_t place : places) {
    if (place < 0 || place >= static_cast<std::int32_t>(places.size()) || seen[static_cast<std::size_t>(place)])
      return false;
    seen[static_cast<std::size_t>(place)] = true;
  }
  return true;
}

using Hexagon = std::array<std::int32_t, 6>; // the neighbours of a vertex, each next to its own neighbours among them

std::optional<Hexagon> hexagon_of(const Links& links, std::int32_t vertex) {
  const auto around = links.of(vertex);
  Hexagon hexagon{around[0]};
  for (std::size_t at = 0; at < 6; ++at) {
    const auto theirs = links.of(hexagon[at]);
    std::vector<std::int32_t> common;
    std::set_intersection(around.begin(), around.end(), theirs.begin(), theirs.end(), std::back_inserter(common));
    if (common.size() != 2) return std::nullopt;
    const std::int32_t next = at > 0 && common[0] == hexagon[at - 1] ? common[1] : common[0];
    if (at < 5)
      hexagon[at + 1] = next;
    else if (common[0] != hexagon[0] && common[1] != hexagon[0])
      return std::nullopt;
  }
  Hexagon sorted = hexagon;
  std::sort(sorted.begin(), sorted.end());
  return std::equal(sorted.begin(), sorted.end(), around.begin()) ? std::optional(hexagon) : std::nullopt;
}

class Triangles {
 public:
  explicit Triangles(std::vector<Hexagon> hexagons) : hexagons_(std::move(hexagons)) {}

  // Rows along the direction of the hexagon of vertex 0 with this number; columns along the next one, then along the
  // one after it.
  std::vector<TriangularTorus> tori(std::size_t direction) const {
    const std::size_t all = hexagons_.size();
    std::vector<std::int32_t> row = {0, hexagons_[0][direction]}, place(all, -1);
    while (row.back() != 0 && row.size() <= all) row.push_back(beyond(row[row.size() - 2], row.back()));
    row.pop_back();
    const std::size_t length = row.size();
    if (length < 4 || all % length != 0 || all / length < 4) return {};
    std::int32_t next = hexagons_[0][(direction + 1) % 6];
    std::int32_t number = 0;
    for (std::size_t rows = 0; rows < all / length; ++rows) {
      for (const std::int32_t vertex : row) place[static_cast<std::size_t>(vertex)] = number++;
      std::vector<std::int32_t> above = {next};
      for (std::size_t at = 1; at < length; ++at) {
        const auto found = between(row[at], above.back(), row[(at + 1) % length]);
        if (!found) return {};
        above.push_back(*found);
      }
      next = beyond(row[0], above[0]);
      row = std::move(above);
    }
    if (!is_numbering(place)) return {};
    const Shape shape({{static_cast<std::int32_t>(all / length), true}, {static_cast<std::int32_t>(length), true}});
    const std::int32_t twist = place[static_cast<std::size_t>(row[0])];
    const LatticeGrid grid{shape, std::move(place)};
    if (twist >= shape.length(1) || !has_all_edges(grid, twist)) return {};
    return {{grid, twist != 0}, {leaning(grid), (twist - shape.length(0)) % shape.length(1) != 0}};
  }

 private:
  std::size_t at(std::int32_t vertex, std::int32_t neighbour) const {
    const Hexagon& hexagon = hexagons_[static_cast<std::size_t>(vertex)];
    return static_cast<std::size_t>(std::find(hexagon.begin(), hexagon.end(), neighbour) - hexagon.begin());
  }
  // Straight on from one vertex over its neighbour.
  std::int32_t beyond(std::int32_t from, std::int32_t over) const {
    return hexagons_[static_cast<std::size_t>(over)][(at(over, from) + 3) % 6];
  }
  // The neighbour of a vertex that stands between two others.
  std::optional<std::int32_t> between(std::int32_t vertex, std::int32_t one, std::int32_t other) const {
    const std::size_t a = at(vertex, one), b = at(vertex, other);
    if (a == 6 || b == 6) return std::nullopt;
    if ((a + 2) % 6 == b) return hexagons_[static_cast<std::size_t>(vertex)][(a + 1) % 6];
    if ((b + 2) % 6 == a) return hexagons_[static_cast<std::size_t>(vertex)][(b + 1) % 6];
    return std::nullopt;
  }

  // Whether all edges are along a row, along a column or along the diagonal between a step back in the row and one
  // along the column. Above the last row comes row 0, shifted by the twist.
  bool has_all_edges(const LatticeGrid& grid, std::int32_t twist) const {
    const std::int32_t rows = grid.shape.length(0), columns = grid.shape.length(1);
    for (std::size_t vertex = 0; vertex < hexagons_.size(); ++vertex)
      for (const std::int32_t end : hexagons_[vertex]) {
        const std::int32_t from = grid.place_of_vertex[vertex],
                           to = grid.place_of_vertex[static_cast<std::size_t>(end)];
        std::int32_t up = to / columns - from / columns, along = to % columns - from % columns;
        if (up == rows - 1) up = -1, along += twist;
        if (up == 1 - rows) up = 1, along -= twist;
        if (up < 0) up = -up, along = -along;
        along = ((along % columns) + columns) % columns;
        if (!(up == 0 ? along == 1 || along == columns - 1 : up == 1 && (along == 0 || along == columns - 1)))
          return false;
      }
    return true;
  }
  // The grid with the diagonals as columns.
  static LatticeGrid leaning(LatticeGrid grid) {
    const std::int32_t columns = grid.shape.length(1);
    for (std::int32_t& place : grid.place_of_vertex) {
      const std::int32_t row = place / columns;
      place = row * columns + (place % columns + row) % columns;
    }
    return grid;
  }

  std::vector<Hexagon> hexagons_;
};

} // namespace

std::optional<LatticeGrid> rows_and_columns_of(const Links& links) {
  const std::int32_t vertices = links.vertices();
  const auto degree = vertices > 0 ? links.of(0).size() : 0;
  if (degree < 3 || !all_have(links, degree)) return std::nullopt;
  const auto around = links.of(0), theirs = links.of(around[0]);
  std::vector<std::int32_t> row = {0, around[0]}, column = {0};
  std::set_intersection(around.begin(), around.end(), theirs.begin(), theirs.end(), std::back_inserter(row));
  for (const std::int32_t vertex : around)
    if (std::find(row.begin() + 1, row.end(), vertex) == row.end()) column.push_back(vertex);
  if (row.size() * column.size() != static_cast<std::size_t>(vertices) || column.size() < 2) return std::nullopt;

  const auto length = static_cast<std::int32_t>(row.size());
  std::vector<std::int32_t> of_row(static_cast<std::size_t>(vertices), -1), of_column = of_row;
  const auto spread = [&](const std::vector<std::int32_t>& starts, std::vector<std::int32_t>& numbers) {
    std::vector<bool> is_start(static_cast<std::size_t>(vertices));
    for (const std::int32_t start : starts) is_start[static_cast<std::size_t>(start)] = true;
    for (std::size_t at = 0; at < starts.size(); ++at) {
      numbers[static_cast<std::size_t>(starts[at])] = static_cast<std::int32_t>(at);
      for (const std::int32_t vertex : links.of(starts[at]))
        if (!is_start[static_cast<std::size_t>(vertex)])
          numbers[static_cast<std::size_t>(vertex)] = static_cast<std::int32_t>(at);
    }
  };
  spread(row, of_column), spread(column, of_row);
  std::vector<std::int32_t> place;
  for (std::size_t vertex = 0; vertex < of_row.size(); ++vertex) {
    if (of_row[vertex] < 0 || of_column[vertex] < 0) return std::nullopt;
    place.push_back(of_row[vertex] * length + of_column[vertex]);
  }
  if (!is_numbering(place)) return std::nullopt;
  for (std::int32_t vertex = 0; vertex < vertices; ++vertex)
    for (const std::int32_t other : links.of(vertex)) {
      const auto a = static_cast<std::size_t>(vertex), b = static_cast<std::size_t>(other);
      if (of_row[a] != of_row[b] && of_column[a] != of_column[b]) return std::nullopt;
    }
  return LatticeGrid{Shape({{static_cast<std::int32_t>(column.size()), false}, {length, false}}), std::move(place)};
}

std::vector<TriangularTorus> triangular_tori_of(const Links& links) {
  if (links.vertices() < 16 || !all_have(links, 6)) return {};
  std::vector<Hexagon> hexagons;
  for (std::int32_t vertex = 0; vertex < links.vertices(); ++vertex) {
    const auto hexagon = hexagon_of(links, vertex);
    if (!hexagon) return {};
    hexagons.push_back(*hexagon);
  }
  const Triangles triangles(std::move(hexagons));
  std::vector<TriangularTorus> found;
  for (std::size_t direction = 0; direction < 3; ++direction)
    for (TriangularTorus& torus : triangles.tori(direction)) found.push_back(std::move(torus));
  return found;
}

} // namespace kumihimo::mapping
