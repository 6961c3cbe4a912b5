#include "lu/panel.hpp"

#include "lu/column_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace kumihimo::lu {
namespace {

constexpr std::int64_t leaf = 8; // columns that are factored one by one

class RecursivePanel {
 public:
  // `needs_pivots`: a column without a pivot is an error; otherwise its first row is taken, and nothing eliminated.
  RecursivePanel(const PanelPart& part, const blas::Blas& blas, ColumnOfProcesses& column, bool needs_pivots)
      : part_(part), blas_(blas), column_(column), needs_pivots_(needs_pivots),
        record_(static_cast<std::size_t>(pivot_record(part.width))) {}

  Status factor(std::int64_t begin, std::int64_t end) {
    if (end - begin <= leaf) return factor_by_columns(begin, end);
    const std::int64_t middle = begin + std::max(leaf, (end - begin) / 2 / leaf * leaf);
    if (Status s = factor(begin, middle); !s) return s;
    double* const u = top(begin, middle);
    blas_.solve_unit_lower(middle - begin, end - middle, top(begin, begin), part_.width, u, part_.width);
    const std::int64_t from = active(middle);
    blas_.multiply(part_.rows - from, end - middle, middle - begin, -1, at(from, begin), part_.leading, u, part_.width,
                   1, at(from, middle), part_.leading);
    return factor(middle, end);
  }

  std::vector<std::int64_t> take_pivots() { return std::move(pivots_); }
  const std::optional<MissingPivot>& missing() const { return missing_; }

 private:
  double* at(std::int64_t i, std::int64_t j) const { return part_.a + i + j * part_.leading; }
  double* top(std::int64_t i, std::int64_t j) const { return part_.top + i + j * part_.width; }
  // The first of this process's rows that may still be chosen after `chosen` pivots.
  std::int64_t active(std::int64_t chosen) const { return part_.has_diagonal_block ? std::min(chosen, part_.rows) : 0; }

  Status factor_by_columns(std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      if (Status s = choose_pivot(j); !s) return s;
      // Rows of U right of the leaf wait for the solve of the level above.
      const std::int64_t from = active(j + 1);
      const double pivot = *top(j, j);
      eliminate(at(from, j), part_.rows - from, pivot == 0 ? 0 : 1 / pivot, at(from, j + 1), part_.leading, end - j - 1,
                top(j, j + 1), part_.width);
    }
    return Nothing{};
  }

  Status choose_pivot(std::int64_t j) {
    const std::int64_t width = part_.width, from = active(j);
    double* const candidate = record_.data() + 3;
    double* const current = candidate + width;
    const std::int64_t largest = place_of_largest(at(from, j), part_.rows - from);
    const std::int64_t own = largest < 0 ? -1 : from + largest;
    record_[0] = own < 0 ? -1 : std::fabs(*at(own, j));
    record_[1] = own < 0 ? 0 : static_cast<double>(part_.row_of(own));
    record_[2] = part_.has_diagonal_block;
    if (own >= 0)
      for (std::int64_t c = 0; c < width; ++c) candidate[c] = *at(own, c);
    if (part_.has_diagonal_block)
      for (std::int64_t c = 0; c < width; ++c) current[c] = *at(j, c);
    const double mine = record_[1];
    if (Status s = column_.combine_pivots(record_); !s) return s;
    if (needs_pivots_ && !is_pivot(candidate[j])) {
      missing_ = MissingPivot{part_.first + j, candidate[j]};
      return missing_->error();
    }
    for (std::int64_t c = 0; c < width; ++c) *top(j, c) = candidate[c];
    if (own >= 0 && record_[1] == mine)
      for (std::int64_t c = 0; c < width; ++c) *at(own, c) = current[c];
    pivots_.push_back(static_cast<std::int64_t>(record_[1]));
    return Nothing{};
  }

  const PanelPart& part_;
  const blas::Blas& blas_;
  ColumnOfProcesses& column_;
  bool needs_pivots_;
  std::vector<double> record_;
  std::vector<std::int64_t> pivots_;
  std::optional<MissingPivot> missing_;
};

// Some rows of a panel by columns, with their numbers in the matrix.
struct CandidateRows {
  std::int64_t width;
  std::vector<std::int64_t> row;
  std::vector<double> entries; // row.size() x width, by columns
};

class ProcessAlone final : public ColumnOfProcesses {
 public:
  Status combine_pivots(std::span<double>) override { return Nothing{}; }
  Status combine_candidates(std::span<double>) override { return Nothing{}; }
};

// The rows that row pivoting of these rows alone would choose, in its order; all of them where they are no more than
// the columns.
CandidateRows winners(const CandidateRows& of, const blas::Blas& blas) {
  const auto rows = static_cast<std::int64_t>(of.row.size());
  const std::int64_t width = of.width;
  if (rows <= 1) return of;
  std::vector<double> work = of.entries, top(static_cast<std::size_t>(width * width));
  std::vector<std::int64_t> place(of.row.size());
  for (std::int64_t i = 0; i < rows; ++i) place[static_cast<std::size_t>(i)] = i;
  const std::int64_t columns = std::min(rows, width);
  PanelPart part{.a = work.data(),
                 .leading = rows,
                 .rows = rows,
                 .width = columns,
                 .first = 0,
                 .has_diagonal_block = true,
                 .all_rows = {rows, rows, 1},
                 .process = 0,
                 .top = top.data()};
  ProcessAlone alone;
  RecursivePanel panel(part, blas, alone, false);
  static_cast<void>(panel.factor(0, columns)); // alone and with any pivots it cannot fail
  const std::vector<std::int64_t> pivots = panel.take_pivots();
  for (std::size_t k = 0; k < pivots.size(); ++k) std::swap(place[k], place[static_cast<std::size_t>(pivots[k])]);
  CandidateRows best{width, {}, std::vector<double>(static_cast<std::size_t>(columns * width))};
  for (std::int64_t i = 0; i < columns; ++i) {
    const std::int64_t from = place[static_cast<std::size_t>(i)];
    best.row.push_back(of.row[static_cast<std::size_t>(from)]);
    for (std::int64_t j = 0; j < width; ++j)
      best.entries[static_cast<std::size_t>(i + j * columns)] = of.entries[static_cast<std::size_t>(from + j * rows)];
  }
  return best;
}

CandidateRows joined(const CandidateRows& a, const CandidateRows& b) {
  CandidateRows both{a.width, a.row, {}};
  both.row.insert(both.row.end(), b.row.begin(), b.row.end());
  for (std::int64_t j = 0; j < a.width; ++j)
    for (const CandidateRows* const each : {&a, &b}) {
      const auto rows = static_cast<std::int64_t>(each->row.size());
      both.entries.insert(both.entries.end(), each->entries.begin() + j * rows, each->entries.begin() + (j + 1) * rows);
    }
  return both;
}

CandidateRows read_candidates(std::int64_t width, const double* record) {
  const auto rows = static_cast<std::int64_t>(record[0]);
  CandidateRows found{width, {}, {}};
  for (std::int64_t i = 0; i < rows; ++i) found.row.push_back(static_cast<std::int64_t>(record[1 + i]));
  for (std::int64_t j = 0; j < width; ++j) {
    const double* const column = record + 1 + width + j * width;
    found.entries.insert(found.entries.end(), column, column + rows);
  }
  return found;
}

void write_candidates(const CandidateRows& from, double* record) {
  const auto rows = static_cast<std::int64_t>(from.row.size());
  record[0] = static_cast<double>(rows);
  for (std::int64_t i = 0; i < rows; ++i) record[1 + i] = static_cast<double>(from.row[static_cast<std::size_t>(i)]);
  for (std::int64_t j = 0; j < from.width; ++j)
    std::copy_n(from.entries.begin() + j * rows, rows, record + 1 + from.width + j * from.width);
}

} // namespace

bool is_pivot(double value) { return std::fabs(value) >= DBL_MIN && std::fabs(value) <= DBL_MAX; }

Error MissingPivot::error() const {
  if (!std::isfinite(value))
    return failed(fmt::format("the factors overflow: column {} of U grew beyond the largest double, {:.3g} (got {})",
                              column, DBL_MAX, std::fabs(value)),
                  {}, "use fewer rows, or a matrix whose entries grow less");
  return failed(fmt::format("the matrix is singular: column {} has no pivot (got {})", column, value), {},
                "use another matrix");
}

Result<PanelPivots> factor_panel(const PanelPart& part, const blas::Blas& blas, ColumnOfProcesses& column) {
  RecursivePanel panel(part, blas, column, true);
  const Status s = panel.factor(0, part.width);
  if (panel.missing()) return PanelPivots{{}, panel.missing()};
  if (!s) return s.error();
  return PanelPivots{panel.take_pivots(), {}};
}

void combine_pivots(std::int64_t width, const double* left, const double* right, double* target) {
  const bool left_is_nan = std::isnan(left[0]), right_is_nan = std::isnan(right[0]);
  const bool equal = left[0] == right[0] || (left_is_nan && right_is_nan);
  const bool take_left = equal ? left[1] <= right[1] : left_is_nan || left[0] > right[0];
  const double* const candidate = take_left ? left : right;
  const double* const current = left[2] != 0 ? left : right;
  const double has_current = current[2];
  std::copy_n(current + 3 + width, current == target ? 0 : width, target + 3 + width);
  std::copy_n(candidate, candidate == target ? 0 : 3 + width, target);
  target[2] = has_current;
}

// A tournament of chunks of rows one after another: each fits in a cache, and the best so far go on to the next.
void best_candidates(const PanelPart& part, const blas::Blas& blas, double* record) {
  const std::int64_t width = part.width, chunk = 4 * width;
  CandidateRows best{width, {}, {}};
  for (std::int64_t begin = 0; begin < part.rows; begin += chunk) {
    const std::int64_t end = std::min(part.rows, begin + chunk);
    CandidateRows next{width, {}, {}};
    for (std::int64_t i = begin; i < end; ++i) next.row.push_back(part.row_of(i));
    for (std::int64_t j = 0; j < width; ++j)
      next.entries.insert(next.entries.end(), part.a + begin + j * part.leading, part.a + end + j * part.leading);
    best = winners(joined(best, next), blas);
  }
  write_candidates(best, record);
}

Result<std::vector<std::int64_t>> tournament(const PanelPart& part, const blas::Blas& blas, ColumnOfProcesses& column) {
  std::vector<double> record(static_cast<std::size_t>(candidate_record(part.width)));
  best_candidates(part, blas, record.data());
  if (Status s = column.combine_candidates(record); !s) return s.error();
  return rows_of_candidates(record.data());
}

std::vector<std::int64_t> rows_of_candidates(const double* record) {
  const auto rows = static_cast<std::size_t>(record[0]);
  return {record + 1, record + 1 + rows};
}

void combine_candidates(std::int64_t width, const blas::Blas& blas, const double* left, const double* right,
                        double* target) {
  write_candidates(winners(joined(read_candidates(width, left), read_candidates(width, right)), blas), target);
}

void combine_tournaments(std::int64_t width, const blas::Blas& blas, const double* left, const double* right,
                         double* target) {
  const std::int64_t begin = candidate_record(width);
  const double* const with_block = left[begin] != 0 ? left : right;
  if (with_block != target) std::copy(with_block + begin, with_block + tournament_record(width), target + begin);
  combine_candidates(width, blas, left, right, target);
}

std::optional<MissingPivot> factor_chosen(double* top, std::int64_t width, double* a, std::int64_t leading,
                                          std::int64_t rows, std::int64_t first, const blas::Blas& blas) {
  for (std::int64_t j = 0; j < width; ++j) {
    double* const diagonal = top + j * (width + 1);
    if (!is_pivot(*diagonal)) return MissingPivot{first + j, *diagonal};
    eliminate(diagonal + 1, width - j - 1, 1 / *diagonal, diagonal + 1 + width, width, width - j - 1, diagonal + width,
              width);
  }
  blas.solve_upper_right(rows, width, top, width, a, leading);
  return std::nullopt;
}

} // namespace kumihimo::lu
