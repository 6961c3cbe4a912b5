// The optimised linear system of HPCG: the matrix and the multigrid preconditioner (one V-cycle of four levels, a
// symmetric Gauss-Seidel step before and after each coarser level and one on the coarsest) in an order of the rows that
// lets threads share the sweeps. All vectors are in this order. It gives the same bits on every number of threads.
//
// Of a sweep it computes what changes: the first sweep begins from zero and reads the lower part of the matrix,
// backward sweeps read the upper part, and the residual is computed for the rows that the next level has.
#pragma once

#include "hpcg/sliced.hpp"
#include "krylov/linear_system.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::hpcg {

class System final : public krylov::LinearSystem {
 public:
  // `reference`: the matrices of all levels in natural order; not needed afterwards. Errors: not enough memory.
  static Result<System> make(std::span<const HpcgMatrix> reference, OrderingKind kind);

  std::int64_t rows() const override { return levels_.front().matrix.rows(); }
  std::int64_t length() const override { return rows(); }
  Status multiply(double* x, double* y) override;
  Status precondition(const double* r, double* z) override;

  // Between the natural order of the finest level and the order of the system.
  void to_system(const double* natural, double* ordered) const;
  void to_natural(const double* ordered, double* natural) const;
  SlicedMatrix& finest() { return levels_.front().matrix; }
  std::int64_t groups(int level) const {
    return static_cast<std::int64_t>(levels_[static_cast<std::size_t>(level)].matrix.groups().size()) - 1;
  }
  // Of entries, with what fills the slices up.
  std::int64_t stored_entries(int level) const;
  // Bytes that an iteration of conjugate gradients reads and writes if each array comes from memory once a loop.
  double bytes_per_iteration() const;

 private:
  struct Level {
    SlicedMatrix matrix;
    Restriction restriction; // empty on the coarsest
    threads::ThreadedArray<double> kept, r,
        x; // r - L x of the forward sweep; right-hand side and solution of coarser levels
  };
  void cycle(std::size_t level, const double* r, double* x);

  std::vector<Level> levels_;
  std::vector<std::int32_t> new_of_old_;
};

} // namespace kumihimo::hpcg
