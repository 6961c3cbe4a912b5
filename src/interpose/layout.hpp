// How the elements of a type lie in memory.
#pragma once

#include "mpi/library.hpp"

#include <cstdint>

namespace kumihimo::interpose {

enum class Layout : std::uint8_t { dense, holes, derived };
// Of a predefined type, whether its elements lie one behind the other; of any other no more than that it is derived.
Layout layout_of(const mpi::Library& library, mpi::Handle type);

// Whether elements of the type lie one behind the other, without holes and in the order in which it is packed: then so
// many bytes of it need no packing. Of few it is not asked what a derived type is made of, which takes longer.
bool is_dense(const mpi::Library& library, mpi::Handle type, std::int64_t bytes);

} // namespace kumihimo::interpose
