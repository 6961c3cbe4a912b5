// How the elements of a type lie in memory.
#pragma once

#include "mpi/library.hpp"

#include <cstdint>

namespace kumihimo::interpose {

enum class TypeLayout : std::uint8_t { dense, holes, derived };
// `dense` or `holes` for a predefined type, `derived` for all others.
TypeLayout layout_of(const mpi::Library& library, mpi::Handle type);

// Whether elements of the type are contiguous and in packing order, so that they need no packing. For few bytes a
// derived type is not analysed, which takes longer than packing.
bool is_dense(const mpi::Library& library, mpi::Handle type, std::int64_t bytes);

} // namespace kumihimo::interpose
