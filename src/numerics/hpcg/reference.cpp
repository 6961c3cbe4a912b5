#include "hpcg/reference.hpp"

#include "hpcg/ordering.hpp"

#include <algorithm>

namespace kumihimo::hpcg {
namespace {

void product(const HpcgMatrix& a, const double* x, double* y) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    double sum = 0;
    for (std::int64_t k = a.row_begin[i]; k < a.row_begin[i + 1]; ++k) sum += a.values[k] * x[a.columns[k]];
    y[i] = sum;
  }
}

void relax(const HpcgMatrix& a, std::int64_t i, const double* r, double* x) {
  double sum = r[i];
  for (std::int64_t k = a.row_begin[i]; k < a.row_begin[i + 1]; ++k) sum -= a.values[k] * x[a.columns[k]];
  const double diagonal = a.values[a.diagonal[i]];
  x[i] = (sum + diagonal * x[i]) / diagonal;
}

void symmetric_gauss_seidel(const HpcgMatrix& a, const double* r, double* x) {
  for (std::int64_t i = 0; i < a.rows(); ++i) relax(a, i, r, x);
  for (std::int64_t i = a.rows() - 1; i >= 0; --i) relax(a, i, r, x);
}

} // namespace

Result<std::vector<HpcgMatrix>> make_levels(const HpcgGrid& grid) {
  (void)TRY(check(grid));
  std::vector<HpcgMatrix> made;
  HpcgGrid at = grid;
  for (int level = 0; level < level_count; ++level, at = at.coarse()) made.push_back(TRY(make_matrix(at)));
  return made;
}

Result<Reference> Reference::make(const std::vector<HpcgMatrix>& matrices) {
  Reference made;
  made.matrices_ = &matrices;
  for (const HpcgMatrix& each : matrices) {
    made.points_.push_back(coarse_points(each.grid));
    made.product_.push_back(TRY(threads::ThreadedArray<double>::zeros(each.rows())));
    made.r_.push_back(TRY(threads::ThreadedArray<double>::zeros(each.rows())));
    made.x_.push_back(TRY(threads::ThreadedArray<double>::zeros(each.rows())));
  }
  return made;
}

Status Reference::multiply(double* x, double* y) {
  product(matrices_->front(), x, y);
  return Nothing{};
}

Status Reference::precondition(const double* r, double* z) {
  cycle(0, r, z);
  return Nothing{};
}

void Reference::cycle(std::size_t level, const double* r, double* x) {
  const HpcgMatrix& a = (*matrices_)[level];
  std::fill(x, x + a.rows(), 0.0);
  symmetric_gauss_seidel(a, r, x);
  if (level + 1 == matrices_->size()) return;
  product(a, x, product_[level].data());
  const std::vector<std::int32_t>& points = points_[level];
  for (std::size_t i = 0; i < points.size(); ++i)
    r_[level + 1][static_cast<std::int64_t>(i)] = r[points[i]] - product_[level][points[i]];
  cycle(level + 1, r_[level + 1].data(), x_[level + 1].data());
  for (std::size_t i = 0; i < points.size(); ++i) x[points[i]] += x_[level + 1][static_cast<std::int64_t>(i)];
  symmetric_gauss_seidel(a, r, x);
}

} // namespace kumihimo::hpcg
