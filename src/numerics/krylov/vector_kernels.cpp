#include "krylov/vector_kernels.hpp"

#include "threads/partition.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace kumihimo::krylov {

std::span<const RangeLoop> loops_baseline();
#if defined(__x86_64__)
std::span<const RangeLoop> loops_avx2();
std::span<const RangeLoop> loops_avx512();
#endif

std::span<const VectorKernelDescription> vector_kernels() {
  static constexpr VectorKernelDescription all[] = {
#define VECTOR_KERNEL(name, vectors, sums, bytes, summary) {#name, vectors, sums, bytes, summary},
#include "krylov/vector_kernels.def"
#undef VECTOR_KERNEL
  };
  return all;
}

std::span<const LoopTable> loop_tables() {
  static const std::vector<LoopTable> all = [] {
    std::vector<LoopTable> made{{"baseline", loops_baseline()}};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) made.push_back({"avx2", loops_avx2()});
    if (__builtin_cpu_supports("avx512f")) made.push_back({"avx512", loops_avx512()});
#endif
    return made;
  }();
  return all;
}

// One product, additions within a lane, between lanes, and between blocks.
std::int64_t rounding_steps(std::int64_t rows) {
  const auto levels = [](std::int64_t n) {
    return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1) - 1)));
  };
  const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
  return 1 + std::min((rows + lanes - 1) / lanes, block_rows / lanes) + levels(lanes) + levels(blocks);
}

Result<VectorLoops> VectorLoops::of(std::int64_t rows) {
  VectorLoops made;
  made.rows_ = rows;
  made.blocks_ = TRY(threads::ThreadedArray<SumArray>::zeros((rows + block_rows - 1) / block_rows));
  return made;
}

SumArray VectorLoops::run(VectorKernel kernel, const Operands& operands) {
  const RangeLoop loop = loop_tables().back().loops[static_cast<std::size_t>(kernel)];
  const std::int64_t blocks = blocks_.size();
#pragma omp parallel
  {
    const auto [begin, end] = threads::part(blocks, omp_get_thread_num(), omp_get_num_threads());
    if (begin < end) loop(operands, begin * block_rows, std::min(rows_, end * block_rows), blocks_.data() + begin);
  }
  const int sums = description_of(kernel).sums;
  if (blocks == 0 || sums == 0) return {};
  for (std::int64_t apart = 1; apart < blocks; apart *= 2)
    for (std::int64_t b = 0; b + apart < blocks; b += 2 * apart)
      for (int k = 0; k < sums; ++k)
        blocks_[b][static_cast<std::size_t>(k)] += blocks_[b + apart][static_cast<std::size_t>(k)];
  return blocks_[0];
}

} // namespace kumihimo::krylov
