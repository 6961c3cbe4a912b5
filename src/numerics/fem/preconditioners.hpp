// Preconditioners of the owned rows: z = M^-1 r with symmetric positive definite M, without messages and ghosts; r and
// z have 3 numbers of each owned node. The results do not depend on the number of threads.
#pragma once

#include "fem/matrix.hpp"
#include "fem/order.hpp"
#include "fem/sweeps.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::fem {

// The 3 x 3 blocks on the diagonal ("block diagonal scaling").
class BlockDiagonal {
 public:
  // `blocks`: 9 of each owned node (diagonal_blocks()). Errors: a block is not positive definite; no memory.
  static Result<BlockDiagonal> make(std::span<const double> blocks);
  void apply(const double* r, double* z) const;

 private:
  threads::ThreadedArray<double> inverses_;
};

// Symmetric Gauss-Seidel over all owned nodes, coloured in their own order or in that of reverse Cuthill-McKee,
// whichever needs fewer colours.
class GaussSeidel {
 public:
  static Result<GaussSeidel> make(const BlockMatrix& matrix);
  void apply(const double* r, double* z);
  std::int64_t colour_count() const { return static_cast<std::int64_t>(colour_begin_.size()) - 1; }
  double bytes() const { return sweeps_.bytes() + static_cast<double>(sweeps_.size()) * 2 * 24; }
  double flops() const { return sweeps_.flops(); }

 private:
  std::vector<std::int64_t> colour_begin_;
  Sweeps sweeps_;
  threads::ThreadedArray<double> work_;
};

// Additive Schwarz: the owned nodes in `parts` of consecutive numbers, each with the `overlap` (0 or 1) layers of nodes
// around it. A part has symmetric Gauss-Seidel sweeps in the order of reverse Cuthill-McKee; a node's results are added
// in the order of parts. The parts are the threads' work, but their number is a choice of its own. More parts than
// threads balance; each part more costs iterations.
class AdditiveSchwarz {
 public:
  // Errors: parts is not 1 to the number of owned nodes; overlap is not 0 or 1; as of Sweeps.
  static Result<AdditiveSchwarz> make(const BlockMatrix& matrix, std::int64_t parts, int overlap);
  void apply(const double* r, double* z);
  double bytes() const; // that apply() moves at least
  double flops() const;

 private:
  std::vector<Sweeps> parts_;
  std::vector<std::int64_t> part_begin_;   // of each part's numbers in work_
  std::vector<std::int64_t> result_begin_; // of each owned node, in results_
  std::vector<std::int64_t> results_;      // places in work_, in the order of parts
  threads::ThreadedArray<double> work_;
};

} // namespace kumihimo::fem
