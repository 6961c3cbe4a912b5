// Sums of floats and doubles without rounding (kernels/exact_sum.hpp), where a run asks for them: each addend becomes
// an accumulator, the accumulators are reduced by any schedule at all, and what comes out is rounded. The result
// depends on the addends alone.
//
// A double is 280 bytes then and a float 48, so long vectors go in pieces: a thread keeps at most 256 KiB for them, and
// the plans of a communicator are those of a whole piece and of the powers of two below it. A non-blocking sum is one
// piece, of at most 16 MiB, which it keeps until its end.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/session.hpp"

#include <optional>

namespace kumihimo::interpose {

struct ExactAnswer {
  bool is_sum = false;     // false: nothing that exact sums are made for; it is decided as any other call
  std::optional<int> code; // nothing: handed on
};
// A call of any collective, where exact sums are asked for.
ExactAnswer run_exact(Session& session, CollectiveKind kind, const Call& call);
ExactAnswer start_exact(Session& session, CollectiveKind kind, const Call& call, mpi::Handle& request); // non-blocking

} // namespace kumihimo::interpose
