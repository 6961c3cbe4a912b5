// Sums of floats and doubles without rounding (kernels/exact_sum.hpp), if a run asks for them. Each addend becomes an
// accumulator, any schedule reduces the accumulators, and the result is rounded. It depends on the addends only.
//
// An accumulator of doubles has 280 bytes, one of floats 48. So long vectors go in pieces: a thread keeps at most 256
// KiB for them, and a communicator has plans of a whole piece and of the powers of two below. A non-blocking sum is one
// piece of at most 16 MiB, kept until its end.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/interposer.hpp"

#include <optional>

namespace kumihimo::interpose {

struct ExactAnswer {
  bool is_sum = false;     // false: not a sum of floating types; it is decided as any other call
  std::optional<int> code; // nothing: forwarded
};
// Run and start a call of any collective, in a run with exact sums.
ExactAnswer run_exact(Interposer& interposer, CollectiveKind kind, const BufferArguments& call);
ExactAnswer start_exact(Interposer& interposer, CollectiveKind kind, const BufferArguments& call,
                        mpi::Handle& request); // non-blocking

} // namespace kumihimo::interpose
