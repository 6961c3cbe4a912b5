// Reduction loops: target[i] = op(left[i], right[i]) for all i < count.
//
// Every kernel of the same type and operation gives the same bits, whatever its instruction set:
//  - integers wrap (two's complement), also in sums and products of signed types;
//  - logical operations give 0 or 1 in the element's type;
//  - floating min and max are `minimum` and `maximum` of IEEE 754-2019: the canonical quiet NaN if either is a NaN,
//    and -0 < +0, so the order of operands and of the tree do not matter;
//  - floating sums and products are a single rounded operation, left op right. A result that is a NaN is a NaN on all
//    levels, but when both operands are NaNs its payload is unspecified (compilers may swap the operands).
// `left`, `right` and `target` need no alignment. `target` may equal `left` or `right` or both; partial overlap is
// undefined.
#pragma once

#include "base/datatype.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kumihimo::kernels {

using ReduceKernel = void (*)(const void* left, const void* right, void* target, std::int64_t count);

// The instruction sets that kernels are built for. `baseline` is what the compiler assumes of any machine it targets
// (SSE2 on x86-64, Advanced SIMD on aarch64); the other two exist on x86-64 only.
enum class Level : std::uint8_t { baseline, avx2, avx512 };
inline constexpr std::array levels = {Level::baseline, Level::avx2, Level::avx512};

std::string_view name_of(Level level);
// Was the level built, and does this processor (and its operating system) run it?
bool is_supported(Level level);
// The supported level that is fastest on this processor, or the one that the environment variable KUMIHIMO_KERNEL_LEVEL
// (baseline, avx2, avx512) names if it is supported. Read once.
Level active_level();
// What active_level() answers for this value of the variable; an unknown or unsupported name is ignored.
Level level_for(std::optional<std::string_view> wish);

// Null if the operation is the user's, the type is opaque, or is_applicable(type, op) is false.
ReduceKernel find_reduce_kernel(DataType type, Operation op);
// The same of pairs: one plain loop for every level, since a pair is compared as a whole.
ReduceKernel find_pair_kernel(DataType type, Operation op);
// The kernel of one level, which must be supported; of single numbers.
ReduceKernel find_reduce_kernel(DataType type, Operation op, Level level);
// The golden copy: plain loops, one element at a time.
ReduceKernel reference_reduce_kernel(DataType type, Operation op);

} // namespace kumihimo::kernels
