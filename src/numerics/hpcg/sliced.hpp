// A matrix of HPCG in sliced ELL storage and a new order of its rows, ready for parallel sweeps.
#pragma once

#include "hpcg/kernels.hpp"
#include "hpcg/ordering.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::hpcg {

// Owns the entries of slices.
struct Sliced {
  threads::ThreadedArray<std::int64_t> begin;
  threads::ThreadedArray<std::int32_t> columns;
  threads::ThreadedArray<double> values;
  SlicedView view() const { return {begin.data(), columns.data(), values.data()}; }
};

class SlicedMatrix {
 public:
  // Errors: there is not enough memory.
  static Result<SlicedMatrix> make(const HpcgMatrix& a, const Ordering& ordering);

  std::int64_t rows() const { return rows_; }
  const MatrixView& view() const { return view_; }
  // Slices of each group of independent rows; groups + 1.
  const std::vector<std::int64_t>& groups() const { return group_slices_; }
  std::int64_t slices() const { return group_slices_.back(); }
  // By the new order. The reciprocals follow.
  void set_diagonal(const double* diagonal);
  const double* diagonal() const { return diagonal_.data(); }

 private:
  std::int64_t rows_ = 0;
  threads::ThreadedArray<std::int64_t> first_row_;
  Sliced lower_, upper_;
  threads::ThreadedArray<double> diagonal_, reciprocal_;
  std::vector<std::int64_t> group_slices_;
  MatrixView view_;
};

// The rows of `fine` that the next level has: the residual of these alone is needed.
class Restriction {
 public:
  static Result<Restriction> make(const HpcgMatrix& fine, const Ordering& of_fine, const Ordering& of_coarse,
                                  const std::vector<std::int32_t>& points);
  RestrictionView view() const { return {rows_, entries_.view(), fine_.data()}; }
  std::int64_t slices() const { return (rows_ + lanes - 1) / lanes; }

 private:
  std::int64_t rows_ = 0;
  Sliced entries_;
  threads::ThreadedArray<std::int32_t> fine_;
};

} // namespace kumihimo::hpcg
