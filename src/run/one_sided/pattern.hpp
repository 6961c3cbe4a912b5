// What is put, and the golden copy that it is compared with: bytes that depend on a seed and on their place alone, so
// that the receiver computes what must have arrived without having seen it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kumihimo::one_sided {

// No memory has it before data arrive.
inline constexpr std::byte unwritten{0xa5};

void fill_pattern(std::byte* at, std::int64_t bytes, std::uint64_t seed);
// The first byte that is not the pattern's; -1: none.
std::int64_t first_difference(const std::byte* at, std::int64_t bytes, std::uint64_t seed);
// The first byte that is not `unwritten`; -1: none.
std::int64_t first_written(const std::byte* at, std::int64_t bytes);

// Element i of the operand that a rank gives to a sum, and the sum over `ranks` ranks.
std::int32_t operand(std::uint64_t seed, std::int32_t rank, std::int64_t i);
std::int32_t sum_of_operands(std::uint64_t seed, std::int32_t ranks, std::int64_t i);

} // namespace kumihimo::one_sided
