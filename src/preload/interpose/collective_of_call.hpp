// The collective that a call asks for, from arguments that are equal on all its ranks: type and operation of a
// reduction, and the bytes of a block for all others, because its type may differ from rank to rank. A reduction with a
// user-defined operation has elements of an opaque type, as large as MPI_Pack packs them, for the same reason.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/call_counters.hpp"
#include "mpi/types.hpp"
#include "schedule/collective.hpp"

#include <cstdint>
#include <variant>

namespace kumihimo::interpose {

// More than the addresses of a process, so that sizes computed from shorter ones do not overflow.
inline constexpr std::int64_t most_bytes = std::int64_t{1} << 47;

// The collective, or why the library runs the call. Blocks longer than memory (by large counts) are the library's, too.
std::variant<Collective, Reason> collective_of_call(const mpi::Library& library, const mpi::Types& types,
                                                    CollectiveKind kind, const BufferArguments& call,
                                                    const RankBuffers& view, std::int32_t ranks);

// The bytes of `count` elements of `each` bytes, at most `most_bytes`.
std::int64_t limited_bytes(std::int64_t count, std::int64_t each);

} // namespace kumihimo::interpose
