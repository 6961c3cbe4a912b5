// The loops over vectors of the Krylov methods: updates and dot products fused in one pass each, threaded.
//
// Sums do not depend on the number of threads, nor on the processor: rows are cut in blocks of block_rows, row i of a
// block goes to lane i % lanes, lanes and blocks are added pairwise. With u = 2^-53, each sum of n products deviates
// from the exact one by at most rounding_steps(n) u sum |x_i y_i|. Operations are rounded one by one (no fused
// multiply-add), so updates have the bits of the plain loops.
#pragma once

#include "base/result.hpp"
#include "threads/array.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace kumihimo::krylov {

enum class VectorKernel {
#define VECTOR_KERNEL(name, ...) name,
#include "krylov/vector_kernels.def"
#undef VECTOR_KERNEL
};

struct VectorKernelDescription {
  std::string_view name;
  int vectors, sums, bytes_per_row;
  std::string_view summary;
};
std::span<const VectorKernelDescription> vector_kernels(); // in the order of VectorKernel
inline const VectorKernelDescription& description_of(VectorKernel kernel) {
  return vector_kernels()[static_cast<std::size_t>(kernel)];
}

inline constexpr int most_vectors = 10, most_sums = 9, lanes = 8;
inline constexpr std::int64_t block_rows = 1024;

// Vectors may not overlap.
struct Operands {
  std::array<double*, most_vectors> vectors{};
  double alpha = 0, beta = 0;
};

using SumArray = std::array<double, most_sums>;
// Rows [begin, end), begin a multiple of block_rows, end one too or the last row: `sums` gets those of each block.
using RangeLoop = void (*)(const Operands&, std::int64_t begin, std::int64_t end, SumArray* sums);

std::int64_t rounding_steps(std::int64_t rows);

// Runs kernels on vectors of `rows` rows, with a fast loop for this processor.
class VectorLoops {
 public:
  VectorLoops() = default;
  static Result<VectorLoops> of(std::int64_t rows); // error: there is not enough memory
  SumArray run(VectorKernel kernel, const Operands& operands);

 private:
  std::int64_t rows_ = 0;
  threads::ThreadedArray<SumArray> blocks_;
};

// The golden copies: plain loops, one thread.
SumArray run_plain(VectorKernel kernel, const Operands& operands, std::int64_t rows);

// Loops of one set of instructions, in the order of VectorKernel.
struct LoopTable {
  std::string_view instructions; // "avx2"
  std::span<const RangeLoop> loops;
};
std::span<const LoopTable> loop_tables(); // those that run on this processor, the fastest last

} // namespace kumihimo::krylov
