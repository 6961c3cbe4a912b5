// Operations on the vectors of one rank, shared by the threads. Dot products add blocks of a fixed length, and the sums
// of the blocks in their order, so that they give the same bits on every number of threads.
#pragma once

#include "base/result.hpp"
#include "krylov/linear_system.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::hpcg {

class HpcgVectors {
 public:
  HpcgVectors(std::int64_t rows, krylov::Sums& sums);
  Result<double> dot(const double* x, const double* y);
  void scaled_sum(double factor, const double* x, double* y);                                  // y = x + factor y
  Result<double> advance(double step, const double* p, const double* q, double* x, double* r); // (r, r) afterwards
  void copy(const double* x, double* y);
  void subtract(const double* x, const double* y, double* r); // r = x - y

 private:
  Result<double> total();

  std::int64_t rows_;
  krylov::Sums* sums_;
  std::vector<double> blocks_;
};

} // namespace kumihimo::hpcg
