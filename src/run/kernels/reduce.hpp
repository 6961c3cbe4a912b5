// Reduction loops: target[i] = op(left[i], right[i]) for all i < count.
//
// Every variant (variants.hpp) for the same type and operation gives the same bits, whatever its instructions:
//  - integers wrap (two's complement), also in sums and products of signed types;
//  - logical operations give 0 or 1 in the element's type;
//  - floating min and max are `minimum` and `maximum` of IEEE 754-2019: the canonical quiet NaN if either is a NaN,
//    and -0 < +0, so the order of operands and of the tree do not matter;
//  - floating sums and products are a single rounded operation, left op right. A result that is a NaN is a NaN in all
//    variants, but when both operands are NaNs its payload is unspecified (compilers may swap the operands).
// `left`, `right` and `target` need no alignment. `target` may equal `left` or `right` or both; partial overlap is
// undefined.
#pragma once

#include "base/datatype.hpp"

#include <cstdint>

namespace kumihimo::kernels {

using ReduceKernel = void (*)(const void* left, const void* right, void* target, std::int64_t count);

// Of pairs, one plain loop, since a pair is compared as a whole; null if is_applicable(type, op) is false.
ReduceKernel find_pair_kernel(DataType type, Operation op);
// The golden copy: plain loops, one element at a time.
ReduceKernel reduce_plain(DataType type, Operation op);

} // namespace kumihimo::kernels
