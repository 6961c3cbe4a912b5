// Finds wrong arguments, which the MPI library reports. Such a call is forwarded before the ranks do anything
// together, since one rank alone may make it and go on with the error.
//
// Right calls are never forwarded here, so the ranks of a right program all take the same way. A library may be built
// or set to refuse nothing; a wrong call may then work, and is not refused by us either.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/interposer.hpp"

namespace kumihimo::interpose {

bool is_refused(Interposer& interposer, CollectiveKind kind, const BufferArguments& call);

// Whether this rank's send buffer is where its own part of the result belongs. MPI forbids that; if the library accepts
// it, the call is in place.
bool is_one_buffer(const Interposer& interposer, CollectiveKind kind, const RankBuffers& view, std::int32_t rank);

} // namespace kumihimo::interpose
