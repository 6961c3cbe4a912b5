// Inputs that tell orders of summation apart: floats of both signs over some twenty-four binary orders of magnitude, so
// that any two orders of adding a few of them differ in the last bits; integers over their whole range, zeros among
// them. The same on every rank for the same (rank, seed), so that each can make the inputs of all.
#pragma once

#include "base/datatype.hpp"
#include "bench_driver/golden.hpp"

#include <cstdint>

namespace kumihimo::bench_driver {

// For products the magnitudes stay near 1, so that they neither overflow nor vanish. type is not `opaque`.
Vector values_of(DataType type, Operation operation, std::int64_t count, std::int32_t rank, std::uint64_t seed);

} // namespace kumihimo::bench_driver
