#include "sparse/crs_matrix.hpp"

#include "sparse/memory.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kumihimo::sparse {
namespace {

constexpr const char* advice = "conjugate gradients need a symmetric positive definite matrix";

Status check_arrays(const CrsMatrix& a) {
  if (a.rows < 1) return wrong_value("a matrix must have 1 row or more", a.rows);
  if (a.columns < a.rows)
    return wrong_value(fmt::format("a matrix of {} rows must have as many columns or more", a.rows), a.columns);
  if (a.begin.size() != static_cast<std::size_t>(a.rows) + 1 || a.begin.front() != 0 || a.entries() < 0 ||
      a.column.size() != static_cast<std::size_t>(a.entries()) || a.value.size() != a.column.size())
    return wrong_value(
        "the arrays of a matrix must have rows + 1 row pointers, and a column and a value for each entry");
  return Nothing{};
}

Status check_row(const CrsMatrix& a, std::int32_t i) {
  if (a.begin[i] > a.begin[i + 1] || a.begin[i + 1] > a.entries())
    return wrong_value(fmt::format("the pointer of row {} must not exceed the next one", i + 1));
  for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) {
    if (a.column[k] < 0 || a.column[k] >= a.columns)
      return wrong_value(fmt::format("the columns of row {} must be 1 to {}", i + 1, a.columns),
                         a.column[k] + std::int64_t{1});
    if (k > a.begin[i] && a.column[k] <= a.column[k - 1])
      return wrong_value(fmt::format("the columns of row {} must ascend", i + 1), a.column[k] + std::int64_t{1});
    if (!std::isfinite(a.value[k]))
      return wrong_value(fmt::format("the value at row {}, column {} must be finite", i + 1, a.column[k] + 1),
                         fmt::format("{}", a.value[k]));
  }
  return Nothing{};
}

} // namespace

double entry(const CrsMatrix& a, std::int32_t row, std::int32_t column) {
  const auto first = a.column.begin() + a.begin[row], last = a.column.begin() + a.begin[row + 1];
  const auto at = std::lower_bound(first, last, column);
  return at != last && *at == column ? a.value[at - a.column.begin()] : 0;
}

namespace {

// Where row `row` holds the column, or its end.
std::int64_t place_of(const CrsMatrix& a, std::int32_t row, std::int32_t column) {
  const std::int32_t* const columns = a.column.data();
  const std::int64_t first = a.begin[row], end = a.begin[row + 1];
  std::int64_t at = end;
  if (end - first > 16)
    at = std::lower_bound(columns + first, columns + end, column) - columns;
  else
    while (at > first && columns[at - 1] >= column) --at;
  return at < end && columns[at] == column ? at : end;
}

bool is_row_valid(const CrsMatrix& a, std::int32_t i) {
  bool valid = true, has_diagonal = false;
  std::int32_t before = -1;
  for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) {
    const std::int32_t j = a.column[k];
    valid = valid && j > before && j < a.columns && std::isfinite(a.value[k]);
    has_diagonal = has_diagonal || (j == i && a.value[k] > 0);
    before = j;
  }
  return valid && has_diagonal;
}

// For a pair of entries at (i, j) and (j, i); `larger` of their absolute values.
bool is_small_enough(double larger, double diagonal_i, double diagonal_j) {
  const double square = larger * larger, limit = diagonal_i * diagonal_j;
  if (square > 1e-290 && limit < 1e290 && square < 0.999 * limit) return true; // without the divisions
  return larger / diagonal_i * (larger / diagonal_j) < 1;
}

// Whether each entry left of the diagonal has a mirror image. `lower` and `upper`: entries left and right of it.
bool is_row_symmetric(const CrsMatrix& a, std::int32_t i, const UnwrittenVector<double>& diagonal, std::int64_t& lower,
                      std::int64_t& upper) {
  for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) {
    const std::int32_t j = a.column[k];
    if (j >= a.rows) break;
    if (j > i) ++upper;
    if (j >= i) continue;
    ++lower;
    const std::int64_t mirror = place_of(a, j, i);
    if (mirror == a.begin[j + 1]) return false;
    const double v = std::abs(a.value[k]), w = std::abs(a.value[mirror]), larger = std::max(v, w);
    if (std::abs(a.value[k] - a.value[mirror]) > symmetry_bound * larger ||
        !is_small_enough(larger, diagonal[i], diagonal[j]))
      return false;
  }
  return true;
}

// Tests the conditions of find_fault() with all threads.
bool has_no_fault(const CrsMatrix& a) {
  const std::int32_t n = a.rows;
  const int team = threads::count();
  bool valid = true;
#pragma omp parallel for schedule(static) num_threads(team) reduction(&& : valid)
  for (std::int32_t i = 0; i < n; ++i)
    valid = valid && a.begin[i] >= 0 && a.begin[i] <= a.begin[i + 1] && a.begin[i + 1] <= a.entries();
  if (!valid) return false;
  UnwrittenVector<double> diagonal(static_cast<std::size_t>(n));
#pragma omp parallel for schedule(static) num_threads(team) reduction(&& : valid)
  for (std::int32_t i = 0; i < n; ++i) {
    valid = valid && is_row_valid(a, i);
    if (valid) diagonal[i] = a.value[place_of(a, i, i)];
  }
  if (!valid) return false;
  std::int64_t lower = 0, upper = 0; // each lower entry has an upper one; equal numbers: there are no others
#pragma omp parallel for schedule(static) num_threads(team) reduction(&& : valid) reduction(+ : lower, upper)
  for (std::int32_t i = 0; i < n; ++i) valid = valid && is_row_symmetric(a, i, diagonal, lower, upper);
  return valid && lower == upper;
}

} // namespace

// The first fault in the order of rows.
static Status find_fault(const CrsMatrix& a) {
  std::vector<double> diagonal(static_cast<std::size_t>(a.rows));
  for (std::int32_t i = 0; i < a.rows; ++i) {
    TRY(check_row(a, i));
    const auto first = a.column.begin() + a.begin[i], last = a.column.begin() + a.begin[i + 1];
    if (!std::binary_search(first, last, i))
      return wrong_value(fmt::format("row {} has no diagonal entry", i + 1), {}, advice);
    diagonal[i] = entry(a, i, i);
    if (!(diagonal[i] > 0))
      return wrong_value(fmt::format("the diagonal entry of row {} must be positive", i + 1),
                         fmt::format("{}", diagonal[i]), advice);
  }
  // The mirror image of an entry is found by a cursor in its row: rows come in ascending order, as its columns do.
  std::vector<std::int64_t> cursor(a.begin.begin(), a.begin.end() - 1);
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) {
      const std::int32_t j = a.column[k];
      if (j >= a.rows) break;
      const std::int64_t mirror = cursor[j]++;
      const bool is_there = mirror < a.begin[j + 1] && a.column[mirror] == i;
      if (!is_there || std::abs(a.value[k] - a.value[mirror]) >
                           symmetry_bound * std::max(std::abs(a.value[k]), std::abs(a.value[mirror]))) {
        // The cursor stands on the first entry of row j without a mirror image, or beside one of row i.
        const bool extra = !is_there && mirror < a.begin[j + 1] && a.column[mirror] < i;
        const std::int32_t row = extra ? j : i, column = extra ? a.column[mirror] : j;
        return wrong_value(
            fmt::format("the matrix must be symmetric, but row {}, column {} holds {} and row {}, column {} holds {}",
                        row + 1, column + 1, entry(a, row, column), column + 1, row + 1, entry(a, column, row)),
            {}, advice);
      }
      if (const double v = std::abs(a.value[k]); i != j && v / diagonal[i] * (v / diagonal[j]) >= 1)
        return wrong_value(
            fmt::format("the matrix is not positive definite: the entry {} at row {}, column {} is too large for "
                        "the diagonal entries {} and {}",
                        a.value[k], i + 1, j + 1, diagonal[i], diagonal[j]),
            {}, advice);
    }
  return Nothing{};
}

Status check_symmetric_positive(const CrsMatrix& a) {
  TRY(check_arrays(a));
  if (has_no_fault(a)) return Nothing{};
  return find_fault(a);
}

} // namespace kumihimo::sparse
