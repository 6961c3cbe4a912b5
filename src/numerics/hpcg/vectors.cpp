#include "hpcg/vectors.hpp"

#include "hpcg/kernels.hpp"

#include <algorithm>

namespace kumihimo::hpcg {
namespace {

constexpr std::int64_t block = 4096;

} // namespace

HpcgVectors::HpcgVectors(std::int64_t rows, krylov::Sums& sums)
    : rows_(rows), sums_(&sums), blocks_(static_cast<std::size_t>((rows + block - 1) / block)) {}

Result<double> HpcgVectors::total() {
  double sum = 0;
  for (const double each : blocks_) sum += each;
  (void)TRY(sums_->sum({&sum, 1}));
  return sum;
}

Result<double> HpcgVectors::dot(const double* x, const double* y) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * block;
    blocks_[i] = hpcg::dot(x, y, begin, std::min(begin + block, rows_));
  }
  return total();
}

void HpcgVectors::scaled_sum(double factor, const double* x, double* y) {
#pragma omp parallel for schedule(static)
  for (std::int64_t begin = 0; begin < rows_; begin += block)
    hpcg::scaled_sum(factor, x, y, begin, std::min(begin + block, rows_));
}

Result<double> HpcgVectors::advance(double step, const double* p, const double* q, double* x, double* r) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * block;
    blocks_[i] = hpcg::advance(step, p, q, x, r, begin, std::min(begin + block, rows_));
  }
  return total();
}

void HpcgVectors::copy(const double* x, double* y) {
#pragma omp parallel for schedule(static)
  for (std::int64_t begin = 0; begin < rows_; begin += block)
    std::copy(x + begin, x + std::min(begin + block, rows_), y + begin);
}

void HpcgVectors::subtract(const double* x, const double* y, double* r) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows_; ++i) r[i] = x[i] - y[i];
}

} // namespace kumihimo::hpcg
