#include "poisson3d/box_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace kumihimo::poisson3d {
namespace {

using Cell = std::array<std::int64_t, 3>;
using std::numbers::pi;

// A side of a cell: -1 or +1 along an axis.
struct CellSide {
  std::size_t axis = 0;
  int direction = -1;
};
// In ascending order of the neighbour's number within a part.
constexpr std::array<CellSide, 6> sides{{{2, -1}, {1, -1}, {0, -1}, {0, 1}, {1, 1}, {2, 1}}};

class Maker {
 public:
  Maker(const CellGrid& grid, const application::RankGrid& ranks, std::int32_t rank)
      : grid_(grid), ranks_(ranks), rank_(rank), part_(ranks.part(grid.cells, rank)) {
    const double volume = grid.edge(0) * grid.edge(1) * grid.edge(2);
    for (std::size_t a = 0; a < 3; ++a) across_[a] = volume / (grid.edge(a) * grid.edge(a));
  }

  std::int64_t rows() const { return part_[0].size() * part_[1].size() * part_[2].size(); }

  Result<LocalProblem> make(RightSide right_side) {
    const std::vector<Beyond> neighbours = find_neighbours();
    std::int64_t length = rows();
    for (const Beyond& beyond : neighbours) {
      const std::size_t axis = sides[beyond.side].axis;
      length += part_[(axis + 1) % 3].size() * part_[(axis + 2) % 3].size();
    }
    if (length > std::numeric_limits<std::int32_t>::max())
      return wrong_value("a rank must have at most 2147483647 cells with ghosts", length, "use more ranks");
    find_ghosts(neighbours);
    made_.matrix.rows = static_cast<std::int32_t>(rows());
    made_.matrix.columns = static_cast<std::int32_t>(length);
    const auto n = static_cast<std::size_t>(rows());
    made_.matrix.begin.reserve(n + 1);
    made_.matrix.column.reserve(7 * n);
    made_.matrix.value.reserve(7 * n);
    const double volume = grid_.edge(0) * grid_.edge(1) * grid_.edge(2);
    each_cell(part_, [&](const Cell& cell) {
      add_row(cell);
      made_.exact.push_back(grid_.exact(cell));
      made_.right_side.push_back(volume * (right_side == RightSide::ones ? 1.0 : grid_.factor() * made_.exact.back()));
    });
    return std::move(made_);
  }

 private:
  using Box = std::array<threads::IndexRange, 3>;
  struct Beyond { // a neighbour
    std::int32_t rank = 0;
    std::size_t side = 0;
  };

  template <class Visit>
  static void each_cell(const Box& box, Visit visit) {
    for (std::int64_t k = box[2].begin; k < box[2].end; ++k)
      for (std::int64_t j = box[1].begin; j < box[1].end; ++j)
        for (std::int64_t i = box[0].begin; i < box[0].end; ++i) visit(Cell{i, j, k});
  }
  std::int32_t row_of(const Cell& cell) const {
    return static_cast<std::int32_t>(((cell[2] - part_[2].begin) * part_[1].size() + cell[1] - part_[1].begin) *
                                         part_[0].size() +
                                     cell[0] - part_[0].begin);
  }
  bool is_mine(const Cell& cell) const {
    for (std::size_t a = 0; a < 3; ++a)
      if (cell[a] < part_[a].begin || cell[a] >= part_[a].end) return false;
    return true;
  }

  // By ascending rank.
  std::vector<Beyond> find_neighbours() const {
    std::vector<Beyond> found;
    for (std::size_t s = 0; s < sides.size(); ++s) {
      std::array<std::int32_t, 3> at = ranks_.coordinates(rank_);
      at[sides[s].axis] += sides[s].direction;
      if (const std::int32_t other = ranks_.rank_at(at); other >= 0) found.push_back({other, s});
    }
    std::sort(found.begin(), found.end(), [](const Beyond& a, const Beyond& b) { return a.rank < b.rank; });
    return found;
  }

  // The ghosts of each neighbour in the order of the cells beside them. The neighbour visits the same faces in the same
  // order.
  void find_ghosts(const std::vector<Beyond>& neighbours) {
    made_.ghosts.rows = rows();
    std::int64_t next = rows();
    for (const Beyond& beyond : neighbours) {
      const CellSide side = sides[beyond.side];
      application::Ghosts::Neighbour neighbour;
      neighbour.rank = beyond.rank;
      Box face = part_;
      const std::int64_t last = side.direction < 0 ? part_[side.axis].begin : part_[side.axis].end - 1;
      face[side.axis] = {last, last + 1};
      each_cell(face, [&](const Cell& cell) { neighbour.sent.push_back(row_of(cell)); });
      first_ghost_[beyond.side] = next;
      neighbour.received = static_cast<std::int64_t>(neighbour.sent.size());
      next += neighbour.received;
      made_.ghosts.neighbours.push_back(std::move(neighbour));
    }
  }

  // The column of the cell behind a side; it exists.
  std::int32_t column_of(const Cell& cell, std::size_t side) const {
    if (is_mine(cell)) return row_of(cell);
    const std::size_t axis = sides[side].axis, low = axis == 0 ? 1 : 0, high = axis == 2 ? 1 : 2;
    const std::int64_t in_face = (cell[high] - part_[high].begin) * part_[low].size() + cell[low] - part_[low].begin;
    return static_cast<std::int32_t>(first_ghost_[side] + in_face);
  }

  void add_row(const Cell& cell) {
    struct Entry {
      std::int32_t column = 0;
      double value = 0;
    };
    std::array<Entry, 7> entries{};
    std::size_t count = 1;
    double diagonal = 0;
    for (std::size_t s = 0; s < sides.size(); ++s) {
      const auto [axis, direction] = sides[s];
      Cell other = cell;
      other[axis] += direction;
      const bool exists = other[axis] >= 0 && other[axis] < grid_.cells[axis];
      if (exists) {
        diagonal += across_[axis];
        entries[count++] = {column_of(other, s), -across_[axis]};
      } else if (grid_.boundary == Boundary::all) {
        diagonal += across_[axis];
      } else if (axis == 2 && direction > 0) {
        diagonal += 2 * across_[axis]; // the distance to the face is half a cell
      }
    }
    entries[0] = {row_of(cell), diagonal};
    // By column. GCC 12 warns of what std::sort would do with more than sixteen.
    for (std::size_t e = 1; e < count; ++e)
      for (std::size_t at = e; at > 0 && entries[at].column < entries[at - 1].column; --at)
        std::swap(entries[at], entries[at - 1]);
    sparse::CrsMatrix& m = made_.matrix;
    for (std::size_t e = 0; e < count; ++e) {
      m.column.push_back(entries[e].column);
      m.value.push_back(entries[e].value);
    }
    m.begin.push_back(static_cast<std::int64_t>(m.column.size()));
  }

  const CellGrid& grid_;
  const application::RankGrid& ranks_;
  std::int32_t rank_;
  Box part_;
  std::array<double, 3> across_{}; // area / distance
  std::array<std::int64_t, 6> first_ghost_{};
  LocalProblem made_;
};

} // namespace

double CellGrid::edge(std::size_t axis) const {
  return 1.0 / static_cast<double>(boundary == Boundary::all ? cells[axis] + 1 : cells[axis]);
}

double CellGrid::exact(const Cell& cell) const {
  double u = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const double at = static_cast<double>(cell[a]);
    if (boundary == Boundary::all)
      u *= std::sin(pi * (at + 1) * edge(a));
    else
      u *= std::cos((a == 2 ? pi / 2 : pi) * (at + 0.5) * edge(a));
  }
  return u;
}

double CellGrid::factor() const { return boundary == Boundary::all ? 3 * pi * pi : 2.25 * pi * pi; }

Result<LocalProblem> make_problem(const CellGrid& grid, const application::RankGrid& ranks, std::int32_t rank,
                                  RightSide right_side) {
  return Maker(grid, ranks, rank).make(right_side);
}

} // namespace kumihimo::poisson3d
