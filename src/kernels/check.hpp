// Compares a kernel with its golden copy, bit for bit: on every length from 0 to 400 bytes and on some up to 20 kB, at
// random offsets from the alignment, with random bits and special values (extremes, zeros of both signs, infinities,
// NaNs, subnormals), in all forms of equal operands and target that kernels permit, between guard bytes.
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
