// Reads memory as fast as one core can: the bound of every kernel that must read its operands.
#pragma once

#include <cstdint>

namespace kumihimo::kernels {

// The exclusive or of all whole 8-byte words, so that nothing is left out.
std::uint64_t read_all(const void* memory, std::int64_t bytes);

} // namespace kumihimo::kernels
