// The golden copy: HPCG's reference operations on compressed rows in natural order, by one thread, as the textbook has
// them. It says to what the optimised run must reduce the residual.
#pragma once

#include "hpcg/matrix.hpp"
#include "krylov/linear_system.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::hpcg {

// The matrices of all levels. Errors: the grid; not enough memory.
Result<std::vector<HpcgMatrix>> make_levels(const HpcgGrid& grid);

class Reference final : public krylov::LinearSystem {
 public:
  // Keeps a reference to the matrices.
  static Result<Reference> make(const std::vector<HpcgMatrix>& matrices);

  std::int64_t rows() const override { return matrices_->front().rows(); }
  std::int64_t length() const override { return rows(); }
  Status multiply(double* x, double* y) override;
  Status precondition(const double* r, double* z) override;

 private:
  void cycle(std::size_t level, const double* r, double* x);

  const std::vector<HpcgMatrix>* matrices_ = nullptr;
  std::vector<std::vector<std::int32_t>> points_;
  std::vector<threads::ThreadedArray<double>> product_, r_, x_; // of each level
};

} // namespace kumihimo::hpcg
