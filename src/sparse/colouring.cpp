#include "sparse/colouring.hpp"

#include <fmt/format.h>

#include <algorithm>

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

// Breadth-first search; finds a row at an end of the part that holds `start`.
class EndOfPart {
 public:
  explicit EndOfPart(const CrsMatrix& a) : a_(a), seen_(static_cast<std::size_t>(a.rows), none) {}

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
    const std::int32_t mark = searches_++;
    level_.assign(1, start);
    seen_[start] = mark;
    for (std::int32_t depth = 0;; ++depth) {
      next_.clear();
      for (const std::int32_t row : level_)
        for_neighbours(a_, row, [&](std::int32_t j) {
          if (seen_[j] == mark) return;
          seen_[j] = mark;
          next_.push_back(j);
        });
      if (next_.empty())
        return {depth, *std::min_element(level_.begin(), level_.end(), [&](std::int32_t x, std::int32_t y) {
                  return degree(a_, x) < degree(a_, y);
                })};
      level_.swap(next_);
    }
  }

  const CrsMatrix& a_;
  std::vector<std::int32_t> seen_, level_, next_;
  std::int32_t searches_ = 0;
};

// The levels of one part, appended to `levels`.
class LevelsOfPart {
 public:
  explicit LevelsOfPart(const CrsMatrix& a)
      : a_(a), level_(static_cast<std::size_t>(a.rows), none), is_candidate_(static_cast<std::size_t>(a.rows), false) {}

  bool has(std::int32_t row) const { return level_[row] != none; }

  void add(std::int32_t start, std::vector<std::vector<std::int32_t>>& levels) {
    candidates_.assign(1, start);
    is_candidate_[start] = true;
    for (std::int32_t l = 0; !candidates_.empty(); ++l) {
      if (static_cast<std::size_t>(l) == levels.size()) levels.emplace_back();
      take_level(l, levels[l]);
    }
  }

 private:
  void take_level(std::int32_t l, std::vector<std::int32_t>& rows) {
    const std::size_t first = rows.size(); // rows of other parts stand before
    waiting_.clear();
    for (const std::int32_t row : candidates_) {
      bool is_free = true;
      for_neighbours(a_, row, [&](std::int32_t j) { is_free = is_free && level_[j] != l; });
      if (!is_free) {
        waiting_.push_back(row);
        continue;
      }
      level_[row] = l;
      rows.push_back(row);
    }
    candidates_.swap(waiting_);
    for (std::size_t i = first; i < rows.size(); ++i) {
      const std::size_t of_row = candidates_.size();
      for_neighbours(a_, rows[i], [&](std::int32_t j) {
        if (is_candidate_[j]) return;
        is_candidate_[j] = true;
        candidates_.push_back(j);
      });
      std::stable_sort(candidates_.begin() + static_cast<std::ptrdiff_t>(of_row), candidates_.end(),
                       [&](std::int32_t x, std::int32_t y) { return degree(a_, x) < degree(a_, y); });
    }
  }

  const CrsMatrix& a_;
  std::vector<std::int32_t> level_;
  std::vector<bool> is_candidate_;
  std::vector<std::int32_t> candidates_, waiting_;
};

Colouring colouring_of(const std::vector<std::vector<std::int32_t>>& sets) {
  Colouring made;
  for (const auto& set : sets) {
    made.row.insert(made.row.end(), set.begin(), set.end());
    made.begin.push_back(static_cast<std::int64_t>(made.row.size()));
  }
  return made;
}

// Whether level mod m gives two neighbours different colours, for all neighbours.
bool separates(const CrsMatrix& a, const std::vector<std::int32_t>& level, int m) {
  for (std::int32_t i = 0; i < a.rows; ++i) {
    bool shared = false;
    for_neighbours(a, i, [&](std::int32_t j) { shared = shared || (level[i] - level[j]) % m == 0; });
    if (shared) return false;
  }
  return true;
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
  for (std::int32_t i = 0; i < a.rows; ++i) {
    if (colour[i] == none) return wrong_value(fmt::format("row {} has no colour", i + 1));
    std::int32_t neighbour = none;
    for_neighbours(a, i, [&](std::int32_t j) {
      if (colour[j] == colour[i]) neighbour = j;
    });
    if (neighbour != none)
      return wrong_value(
          fmt::format("rows {} and {} are neighbours, but share colour {}", i + 1, neighbour + 1, colour[i]));
  }
  return Nothing{};
}

Colouring level_sets(const CrsMatrix& a) {
  std::vector<std::int32_t> by_degree(static_cast<std::size_t>(a.rows));
  for (std::int32_t i = 0; i < a.rows; ++i) by_degree[i] = i;
  std::stable_sort(by_degree.begin(), by_degree.end(),
                   [&](std::int32_t x, std::int32_t y) { return degree(a, x) < degree(a, y); });
  std::vector<std::vector<std::int32_t>> levels;
  LevelsOfPart part(a);
  EndOfPart end(a);
  for (const std::int32_t row : by_degree)
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
  int m = std::clamp(colours, 1, levels);
  while (m < levels && !separates(a, level, m)) ++m;
  Colouring made;
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
