#include "hpcg/sliced.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::hpcg {
namespace {

enum class TrianglePart { lower, upper, both };

// Columns of an off-diagonal entry in the new order, if it belongs to the part.
bool belongs(TrianglePart part, std::int32_t row, std::int32_t column) {
  return part == TrianglePart::both ? column != row : part == TrianglePart::lower ? column < row : column > row;
}

// `row_of(slice, lane)`: the new number of a row, -1 for none.
template <class RowOf>
Result<Sliced> make_sliced(const HpcgMatrix& a, const Ordering& o, TrianglePart part, std::int64_t slices,
                           RowOf row_of) {
  Sliced made;
  made.begin = TRY(threads::ThreadedArray<std::int64_t>::zeros(slices + 1));
  const auto each_entry = [&](std::int32_t row, auto&& take) {
    const std::int32_t old = o.old_of_new[static_cast<std::size_t>(row)];
    for (std::int64_t k = a.row_begin[old]; k < a.row_begin[old + 1]; ++k) {
      const std::int32_t column = o.new_of_old[static_cast<std::size_t>(a.columns[k])];
      if (belongs(part, row, column)) take(column, a.values[k]);
    }
  };
#pragma omp parallel for schedule(static)
  for (std::int64_t s = 0; s < slices; ++s) {
    std::int64_t widest = 0;
    for (int i = 0; i < lanes; ++i) {
      const std::int32_t row = row_of(s, i);
      std::int64_t many = 0;
      if (row >= 0) each_entry(row, [&](std::int32_t, double) { ++many; });
      widest = std::max(widest, many);
    }
    made.begin[s + 1] = widest;
  }
  for (std::int64_t s = 0; s < slices; ++s) made.begin[s + 1] += made.begin[s];
  made.columns = TRY(threads::ThreadedArray<std::int32_t>::zeros(made.begin[slices] * lanes));
  made.values = TRY(threads::ThreadedArray<double>::zeros(made.begin[slices] * lanes));
#pragma omp parallel for schedule(static)
  for (std::int64_t s = 0; s < slices; ++s)
    for (int i = 0; i < lanes; ++i) {
      const std::int32_t row = row_of(s, i);
      std::int64_t at = made.begin[s] * lanes + i;
      // What fills up reads the row itself, which is at hand.
      for (std::int64_t k = made.begin[s]; k < made.begin[s + 1]; ++k) made.columns[k * lanes + i] = std::max(row, 0);
      if (row < 0) continue;
      each_entry(row, [&](std::int32_t column, double value) {
        made.columns[at] = column;
        made.values[at] = value;
        at += lanes;
      });
    }
  return made;
}

} // namespace

Result<SlicedMatrix> SlicedMatrix::make(const HpcgMatrix& a, const Ordering& o) {
  SlicedMatrix made;
  made.rows_ = a.rows();
  made.group_slices_ = {0};
  for (std::int64_t g = 0; g < o.groups(); ++g) {
    const std::int64_t rows =
        o.group_begin[static_cast<std::size_t>(g) + 1] - o.group_begin[static_cast<std::size_t>(g)];
    made.group_slices_.push_back(made.group_slices_.back() + (rows + lanes - 1) / lanes);
  }
  const std::int64_t slices = made.slices();
  made.first_row_ = TRY(threads::ThreadedArray<std::int64_t>::zeros(slices + 1));
  for (std::int64_t g = 0, s = 0; g < o.groups(); ++g)
    for (std::int64_t row = o.group_begin[static_cast<std::size_t>(g)];
         row < o.group_begin[static_cast<std::size_t>(g) + 1]; row += lanes)
      made.first_row_[s++] = row;
  made.first_row_[slices] = made.rows_;
  const auto row_of = [&first = made.first_row_](std::int64_t s, int i) {
    return first[s] + i < first[s + 1] ? static_cast<std::int32_t>(first[s] + i) : -1;
  };
  made.lower_ = TRY(make_sliced(a, o, TrianglePart::lower, slices, row_of));
  made.upper_ = TRY(make_sliced(a, o, TrianglePart::upper, slices, row_of));
  made.diagonal_ = TRY(threads::ThreadedArray<double>::zeros(made.rows_));
  made.reciprocal_ = TRY(threads::ThreadedArray<double>::zeros(made.rows_));
  threads::ThreadedArray<double> diagonal = TRY(threads::ThreadedArray<double>::zeros(made.rows_));
  for (std::int64_t i = 0; i < made.rows_; ++i)
    diagonal[i] = a.values[a.diagonal[o.old_of_new[static_cast<std::size_t>(i)]]];
  made.set_diagonal(diagonal.data());
  made.view_ = {made.first_row_.data(), made.lower_.view(), made.upper_.view(), made.diagonal_.data(),
                made.reciprocal_.data()};
  return made;
}

void SlicedMatrix::set_diagonal(const double* diagonal) {
  for (std::int64_t i = 0; i < rows_; ++i) {
    diagonal_[i] = diagonal[i];
    reciprocal_[i] = 1 / diagonal[i];
  }
}

Result<Restriction> Restriction::make(const HpcgMatrix& fine, const Ordering& of_fine, const Ordering& of_coarse,
                                      const std::vector<std::int32_t>& points) {
  Restriction made;
  made.rows_ = static_cast<std::int64_t>(points.size());
  made.fine_ = TRY(threads::ThreadedArray<std::int32_t>::zeros(made.rows_));
  for (std::size_t i = 0; i < points.size(); ++i)
    made.fine_[of_coarse.new_of_old[i]] = of_fine.new_of_old[static_cast<std::size_t>(points[i])];
  const auto row_of = [&made](std::int64_t s, int i) {
    return s * lanes + i < made.rows_ ? made.fine_[s * lanes + i] : -1;
  };
  made.entries_ = TRY(make_sliced(fine, of_fine, TrianglePart::both, made.slices(), row_of));
  return made;
}

} // namespace kumihimo::hpcg
