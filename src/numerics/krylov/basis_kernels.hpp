// The loops of the s-step method over two bases, V = M^-1 U: their Gram matrices, linear combinations of them, and the
// recurrence that makes them. Sums as in vector_kernels.hpp: blocks of fixed length, the same bits on any number of
// threads.
#pragma once

#include "base/result.hpp"
#include "threads/array.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::krylov {

struct KrylovBasis {
  std::vector<double*> v, u; // m columns each
  std::size_t columns() const { return v.size(); }
};

// v_i.u_j, then u_i.u_j, of all i <= j: m (m + 1) sums. `blocks`: memory for those of each block.
void gram(std::int64_t rows, const KrylovBasis& basis, threads::ThreadedArray<double>& blocks, std::span<double> sums);
void gram_plain(std::int64_t rows, const KrylovBasis& basis, std::span<double> sums); // golden
std::int64_t gram_blocks(std::int64_t rows);

// Coordinates of the vectors of the next step in the basis: x += V dx, r = U r', z = V r', q = U p', p = V p'. The
// targets may be columns.
struct Combination {
  std::span<const double> x, r, p;
};
struct CombinationTargets {
  double *x, *r, *z, *q, *p;
};
void combine(std::int64_t rows, const KrylovBasis& basis, const Combination& coordinates,
             const CombinationTargets& targets);
void combine_plain(std::int64_t rows, const KrylovBasis& basis, const Combination& coordinates,
                   const CombinationTargets& targets); // golden

// y = (y - c u) / h - g w.
void recur(std::int64_t rows, double* y, double c, const double* u, double h, double g, const double* w);

} // namespace kumihimo::krylov
