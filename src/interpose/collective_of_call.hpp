// What a call asks for, by what is equal on all its ranks: the type and the operation of a reduction, which must be
// ours; of all others the bytes of a block, since its type may differ from rank to rank.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/call_counters.hpp"
#include "interpose/types.hpp"
#include "schedule/collective.hpp"

#include <cstdint>
#include <variant>

namespace kumihimo::interpose {

// No process has addresses for more; so nothing that is reckoned from what is not longer overflows.
inline constexpr std::int64_t most_bytes = std::int64_t{1} << 47;

// Or why the call is the library's. Large counts may say anything: what is longer than memory is the library's, too.
std::variant<Collective, Reason> question_of(const mpi::Library& library, const Types& types, CollectiveKind kind,
                                             const Call& call, const RankBuffers& view, std::int32_t ranks);

// So many elements of so many bytes, or `most_bytes` where they are more.
std::int64_t limited_bytes(std::int64_t count, std::int64_t each);

} // namespace kumihimo::interpose
