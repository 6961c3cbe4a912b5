#include "sparse/colouring.hpp"

#include "sparse/memory.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace kumihimo::sparse {
namespace {

constexpr std::int32_t none = -1;

// Calls use(neighbour) for the neighbours of a row; ghosts are none.
template <class Use>
void for_neighbours(const CrsMatrix& a, std::int32_t row, Use use) {
  for (std::int64_t k = a.begin[row]; k < a.begin[row + 1]; ++k)
    if (const std::int32_t j = a.column[k]; j != row && j < a.rows) use(j);
}

std::int32_t degree(const CrsMatrix& a, std::int32_t row) {
  return static_cast<std::int32_t>(a.begin[row + 1] - a.begin[row]);
}

// The graph of a matrix in memory that a walk in any order reads: huge pages, and what is known of a row side by side.
class MatrixGraph {
 public:
  explicit MatrixGraph(const CrsMatrix& a) {
    const auto n = static_cast<std::size_t>(a.rows);
    resize_in_huge_pages(row_, n + 1);
    const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
    for (std::int32_t i = 0; i < a.rows; ++i) {
      std::int64_t neighbours = 0;
      for_neighbours(a, i, [&](std::int32_t) { ++neighbours; });
      row_[i] = {neighbours, degree(a, i), none};
    }
    std::int64_t next = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t neighbours = row_[i].begin;
      row_[i].begin = next;
      next += neighbours;
    }
    row_[n] = {next, 0, none};
    resize_in_huge_pages(neighbour_, static_cast<std::size_t>(next));
#pragma omp parallel for schedule(static) num_threads(team)
    for (std::int32_t i = 0; i < a.rows; ++i) {
      std::int64_t at = row_[i].begin;
      for_neighbours(a, i, [&](std::int32_t j) { neighbour_[at++] = j; });
    }
  }

  std::int32_t rows() const { return static_cast<std::int32_t>(row_.size()) - 1; }
  std::int32_t degree_of(std::int32_t row) const { return row_[row].degree; } // entries of the row of the matrix
  std::int32_t& mark(std::int32_t row) { return row_[row].mark; }             // of the walk; `none` at first
  std::int32_t mark(std::int32_t row) const { return row_[row].mark; }

  template <class Use>
  void for_neighbours_of(std::int32_t row, Use use) const {
    for (std::int64_t k = row_[row].begin; k < row_[row + 1].begin; ++k) use(neighbour_[k]);
  }

  // Asks for the memory of the rows after number i of a list: rows of a level stand apart.
  void prefetch(const std::vector<std::int32_t>& list, std::size_t i) const {
    if (i + 24 < list.size()) __builtin_prefetch(&row_[list[i + 24]]);
    if (i + 16 < list.size()) __builtin_prefetch(neighbour_.data() + row_[list[i + 16]].begin);
    if (i + 8 >= list.size()) return;
    const std::int32_t row = list[i + 8];
    const std::int64_t end = std::min(row_[row + 1].begin, row_[row].begin + 8);
    for (std::int64_t k = row_[row].begin; k < end; ++k) __builtin_prefetch(&row_[neighbour_[k]], 1);
  }

 private:
  struct Row {
    std::int64_t begin;
    std::int32_t degree, mark;
  };
  UnwrittenVector<Row> row_;
  UnwrittenVector<std::int32_t> neighbour_;
};

// Breadth-first search; finds a row at an end of the part that holds `start`. Each search marks
// with a number of its own below 0.
class EndOfPart {
 public:
  explicit EndOfPart(MatrixGraph& graph) : graph_(graph) {}

  std::int32_t from(std::int32_t start) {
    auto [depth, last] = search(start);
    for (int again = 0; again < 4; ++again) { // each search is as long as one product; the depth seldom grows twice
      const auto [deeper, end] = search(last);
      if (deeper <= depth) break;
      depth = deeper;
      start = last;
      last = end;
    }
    return start;
  }

 private:
  struct Found {
    std::int32_t depth, last; // `last`: of least degree in the last level
  };
  Found search(std::int32_t start) {
    const std::int32_t mark = none - ++searches_;
    level_.assign(1, start);
    graph_.mark(start) = mark;
    for (std::int32_t depth = 0;; ++depth) {
      next_.clear();
      for (std::size_t i = 0; i < level_.size(); ++i) {
        graph_.prefetch(level_, i);
        graph_.for_neighbours_of(level_[i], [&](std::int32_t j) {
          if (graph_.mark(j) == mark) return;
          graph_.mark(j) = mark;
          next_.push_back(j);
        });
      }
      if (next_.empty())
        return {depth, *std::min_element(level_.begin(), level_.end(), [&](std::int32_t x, std::int32_t y) {
                  return graph_.degree_of(x) < graph_.degree_of(y);
                })};
      level_.swap(next_);
    }
  }

  MatrixGraph& graph_;
  std::vector<std::int32_t> level_, next_;
  std::int32_t searches_ = 0;
};

// The levels of one part, appended to `levels`. A row waits at a level that holds a neighbour of it, so all rows
// together wait at most as often as the graph has edges: the time is linear in the entries, in a clique too. The mark
// of a row is the last level that holds a neighbour of it; below 0 the row is no candidate yet.
class LevelsOfPart {
 public:
  explicit LevelsOfPart(MatrixGraph& graph) : graph_(graph) {}

  bool has(std::int32_t row) const { return graph_.mark(row) >= 0; } // between calls of add()

  void add(std::int32_t start, std::vector<std::vector<std::int32_t>>& levels) {
    candidates_.assign(1, start);
    graph_.mark(start) = no_level;
    for (std::int32_t l = 0; !candidates_.empty(); ++l) {
      if (static_cast<std::size_t>(l) == levels.size()) levels.emplace_back();
      take_level(l, levels[l]);
    }
  }

 private:
  static constexpr std::int32_t no_level = std::numeric_limits<std::int32_t>::max(); // of the start

  void take_level(std::int32_t l, std::vector<std::int32_t>& rows) {
    waiting_.clear();
    found_.clear();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      graph_.prefetch(candidates_, i);
      const std::int32_t row = candidates_[i];
      if (graph_.mark(row) == l)
        waiting_.push_back(row);
      else {
        rows.push_back(row);
        visit_neighbours(row, l);
      }
    }
    candidates_.swap(waiting_);
    candidates_.insert(candidates_.end(), found_.begin(), found_.end());
  }

  // Neighbours that are no candidates yet are found, in ascending degree.
  void visit_neighbours(std::int32_t row, std::int32_t l) {
    const auto first = static_cast<std::ptrdiff_t>(found_.size());
    graph_.for_neighbours_of(row, [&](std::int32_t j) {
      if (graph_.mark(j) < 0) found_.push_back(j);
      graph_.mark(j) = l;
    });
    sort_by_degree(found_.begin() + first, found_.end());
  }

  void sort_by_degree(std::vector<std::int32_t>::iterator first, std::vector<std::int32_t>::iterator last) const {
    const auto is_less = [&](std::int32_t x, std::int32_t y) { return graph_.degree_of(x) < graph_.degree_of(y); };
    constexpr std::ptrdiff_t few = 32; // std::stable_sort allocates memory
    if (last - first > few) return std::stable_sort(first, last, is_less);
    for (auto next = first; next != last; ++next)
      for (auto at = next; at != first && is_less(*at, at[-1]); --at) std::iter_swap(at, at - 1);
  }

  MatrixGraph& graph_;
  std::vector<std::int32_t> candidates_, waiting_, found_;
};

Colouring colouring_of(const std::vector<std::vector<std::int32_t>>& sets) {
  Colouring made;
  std::size_t rows = 0;
  for (const auto& set : sets) rows += set.size();
  made.row.reserve(rows);
  for (const auto& set : sets) {
    made.row.insert(made.row.end(), set.begin(), set.end());
    made.begin.push_back(static_cast<std::int64_t>(made.row.size()));
  }
  return made;
}

// Which differences of levels neighbours have.
std::vector<char> level_differences(const CrsMatrix& a, const std::vector<std::int32_t>& level, int levels) {
  std::vector<char> any(static_cast<std::size_t>(levels), 0);
  const int team = threads::count();
  std::vector<std::vector<char>> of_thread(static_cast<std::size_t>(team), any);
#pragma omp parallel for schedule(static) num_threads(team)
  for (int t = 0; t < team; ++t) {
    const threads::IndexRange rows = threads::part(a.rows, t, team);
    for (auto i = static_cast<std::int32_t>(rows.begin); i < rows.end; ++i)
      for_neighbours(a, i, [&, mine = of_thread[t].data()](std::int32_t j) {
        if (j < i) mine[std::abs(level[i] - level[j])] = 1; // the pattern is symmetric
      });
  }
  for (const std::vector<char>& mine : of_thread)
    for (std::size_t d = 0; d < any.size(); ++d) any[d] |= mine[d];
  return any;
}

// Whether level mod m gives two neighbours different colours, for all neighbours.
bool separates(const std::vector<char>& differences, int m) {
  for (std::size_t d = 0; d < differences.size(); d += static_cast<std::size_t>(m))
    if (differences[d]) return false;
  return true;
}

// Rows in ascending degree, in their order below the same one; a counting sort.
std::vector<std::int32_t> by_degree(const CrsMatrix& a) {
  std::int32_t most = 0;
  for (std::int32_t i = 0; i < a.rows; ++i) most = std::max(most, degree(a, i));
  std::vector<std::int32_t> place(static_cast<std::size_t>(most) + 2, 0), sorted(static_cast<std::size_t>(a.rows));
  for (std::int32_t i = 0; i < a.rows; ++i) ++place[degree(a, i) + 1];
  for (std::size_t d = 1; d < place.size(); ++d) place[d] += place[d - 1];
  for (std::int32_t i = 0; i < a.rows; ++i) sorted[place[degree(a, i)]++] = i;
  return sorted;
}

} // namespace

std::vector<std::int32_t> Colouring::colour_of_row() const {
  std::vector<std::int32_t> colour(row.size());
  for (int c = 0; c < colours(); ++c)
    for (std::int64_t k = begin[c]; k < begin[c + 1]; ++k) colour[row[k]] = c;
  return colour;
}

Status check_colouring(const CrsMatrix& a, const Colouring& colouring) {
  std::vector<std::int32_t> colour(static_cast<std::size_t>(a.rows), none);
  for (int c = 0; c < colouring.colours(); ++c)
    for (std::int64_t k = colouring.begin[c]; k < colouring.begin[c + 1]; ++k) {
      if (k < 0 || k >= static_cast<std::int64_t>(colouring.row.size()))
        return wrong_value(fmt::format("the colouring has colours of {} rows, but does not list them", k + 1));
      const std::int32_t row = colouring.row[k];
      if (row < 0 || row >= a.rows)
        return wrong_value(fmt::format("rows of a colouring must be 1 to {}", a.rows), row + std::int64_t{1});
      if (colour[row] != none) return wrong_value(fmt::format("row {} is in the colouring twice", row + 1));
      colour[row] = c;
    }
  std::int32_t wrong = a.rows; // the first wrong row
  const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team) reduction(min : wrong)
  for (std::int32_t i = 0; i < a.rows; ++i) {
    bool shares = colour[i] == none;
    for_neighbours(a, i, [&](std::int32_t j) { shares = shares || colour[j] == colour[i]; });
    if (shares) wrong = std::min(wrong, i);
  }
  if (wrong == a.rows) return Nothing{};
  if (colour[wrong] == none) return wrong_value(fmt::format("row {} has no colour", wrong + 1));
  std::int32_t neighbour = none;
  for_neighbours(a, wrong, [&](std::int32_t j) {
    if (colour[j] == colour[wrong]) neighbour = j;
  });
  return wrong_value(
      fmt::format("rows {} and {} are neighbours, but share colour {}", wrong + 1, neighbour + 1, colour[wrong]));
}

Colouring level_sets(const CrsMatrix& a) {
  std::vector<std::vector<std::int32_t>> levels;
  MatrixGraph graph(a);
  LevelsOfPart part(graph);
  EndOfPart end(graph);
  for (const std::int32_t row : by_degree(a))
    if (!part.has(row)) part.add(end.from(row), levels);
  return colouring_of(levels);
}

Colouring reverse_cuthill_mckee(const CrsMatrix& a) {
  const Colouring levels = level_sets(a);
  Colouring reversed;
  reversed.row.assign(levels.row.rbegin(), levels.row.rend());
  for (int l = levels.colours(); l-- > 0;) reversed.begin.push_back(levels.begin.back() - levels.begin[l]);
  return reversed;
}

Colouring cm_rcm(const CrsMatrix& a, int colours) {
  const Colouring rcm = reverse_cuthill_mckee(a);
  const std::vector<std::int32_t> level = rcm.colour_of_row();
  const int levels = rcm.colours();
  const std::vector<char> differences = level_differences(a, level, levels);
  int m = std::clamp(colours, 1, levels);
  while (m < levels && !separates(differences, m)) ++m;
  Colouring made;
  made.row.reserve(rcm.row.size());
  for (int c = 0; c < m; ++c) {
    for (int l = c; l < levels; l += m)
      made.row.insert(made.row.end(), rcm.row.begin() + rcm.begin[l], rcm.row.begin() + rcm.begin[l + 1]);
    made.begin.push_back(static_cast<std::int64_t>(made.row.size()));
  }
  return made;
}

Colouring greedy_colouring(const CrsMatrix& a) {
  std::vector<std::int32_t> colour(static_cast<std::size_t>(a.rows), none);
  std::vector<std::int32_t> taken_by; // per colour, the row whose neighbour has it
  std::vector<std::vector<std::int32_t>> sets;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for_neighbours(a, i, [&](std::int32_t j) {
      if (colour[j] != none) taken_by[colour[j]] = i;
    });
    std::int32_t c = 0;
    while (c < static_cast<std::int32_t>(taken_by.size()) && taken_by[c] == i) ++c;
    if (c == static_cast<std::int32_t>(taken_by.size())) {
      taken_by.push_back(none);
      sets.emplace_back();
    }
    colour[i] = c;
    sets[c].push_back(i);
  }
  return colouring_of(sets);
}

} // namespace kumihimo::sparse
