// The loops of the optimised solver, each over a range of slices or of elements, which one thread does. Sliced ELL: a
// slice is `lanes` rows; its entries stand column by column, each column `lanes` values and as many column numbers.
// Rows that have fewer entries than the slice, and lanes without a row, are filled with zeros.
//
// Each row adds its entries in one order and every operation is rounded by itself, so results do not depend on the
// instructions of the processor.
#pragma once

#include <cstdint>

namespace kumihimo::hpcg {

inline constexpr int lanes = 8;

// Off-diagonal entries of slices.
struct SlicedView {
  const std::int64_t* begin = nullptr; // of each slice, in columns; slices + 1
  const std::int32_t* columns = nullptr;
  const double* values = nullptr;
};

// A matrix in a new order. Slice s has rows first_row[s] to first_row[s + 1], at most `lanes`.
struct MatrixView {
  const std::int64_t* first_row = nullptr;
  SlicedView lower, upper; // entries of rows before and behind the row's own
  const double* diagonal = nullptr;
  const double* reciprocal = nullptr; // of the diagonal
};

// y = A x
void multiply(const MatrixView& a, std::int64_t begin, std::int64_t end, const double* x, double* y);
// Solves (D + L) x = r.
void forward_from_zero(const MatrixView& a, std::int64_t begin, std::int64_t end, const double* r, double* x);
// The backward sweep after forward_from_zero: r - L x is D x there, so that x = x - D^-1 U x does it without L.
void backward_after_zero(const MatrixView& a, std::int64_t begin, std::int64_t end, double* x);
// A forward sweep; keeps t = r - L x for the backward sweep (Conrad and Wallach, 1979), which then needs no L.
void forward(const MatrixView& a, std::int64_t begin, std::int64_t end, const double* r, double* x, double* t);
// x = D^-1 (t - U x)
void backward(const MatrixView& a, std::int64_t begin, std::int64_t end, const double* t, double* x);
// The residual r - A x of the rows that the next level has, in its order. `rows`: their off-diagonal entries.
struct RestrictionView {
  std::int64_t rows = 0;
  SlicedView entries;
  const std::int32_t* fine = nullptr; // the fine row of each coarse row
};
void restrict_residual(const RestrictionView& a, std::int64_t begin, std::int64_t end, const double* diagonal,
                       const double* r, const double* x, double* coarse);
// x[fine] += coarse
void prolong(const std::int32_t* fine, std::int64_t begin, std::int64_t end, const double* coarse, double* x);

// Sums of at most one block each; the same for every instruction set.
double dot(const double* x, const double* y, std::int64_t begin, std::int64_t end);
void scaled_sum(double factor, const double* x, double* y, std::int64_t begin, std::int64_t end); // y = x + factor y
// x += step p, r -= step q; returns (r, r).
double advance(double step, const double* p, const double* q, double* x, double* r, std::int64_t begin,
               std::int64_t end);

} // namespace kumihimo::hpcg
