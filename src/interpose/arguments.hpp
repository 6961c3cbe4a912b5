// Arguments that the MPI library refuses by itself, as MPI lets it: such a call is the library's to tell of, and must
// not come as far as what the ranks do together. One rank alone may make it, and go on with the error.
//
// Only wrong calls are told apart here, never right ones: so the ranks of a right program all go the same way. Where a
// library refuses nothing (it may be built or set so), a wrong call may still work; what it lets pass, so do we.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/session.hpp"

namespace kumihimo::interpose {

bool is_refused(Session& session, CollectiveKind kind, const Call& call);

// Whether what this rank sends lies where its own part of the result belongs: wrong, and in place where the library
// lets it pass.
bool is_one_buffer(const Session& session, CollectiveKind kind, const View& view, std::int32_t rank);

} // namespace kumihimo::interpose
