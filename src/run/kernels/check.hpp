// Compares a kernel with its golden copy, bit for bit:
//  - lengths: each from 0 to 400 bytes, some up to 20 kB;
//  - memory: random offsets from the alignment, guard bytes, all permitted forms of equal operands and target;
//  - values: random bits and special values (extremes, zeros of both signs, infinities, NaNs, subnormals).
#pragma once

#include "kernels/copy.hpp"
#include "kernels/reduce.hpp"

#include <string>

namespace kumihimo::kernels {

// The first input on which the kernel is wrong and in which way, as a sentence; empty if there is none. The payload of
// a sum or product of two NaNs is unspecified, so it is not compared. Milliseconds.
std::string first_fault(ReduceKernel kernel, DataType type, Operation op);
std::string first_fault(CopyKernel kernel);

} // namespace kumihimo::kernels
