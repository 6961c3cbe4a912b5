// Sums of floats and doubles without rounding (kernels/exact_sum.hpp), where a run asks for them: each addend becomes
// an accumulator, the accumulators are reduced by any schedule at all, and what comes out is rounded. The result
// depends on the addends alone.
//
// A double is 280 bytes then and a float 48, so long vectors go in pieces: a thread keeps at most 256 KiB for them, and
// the plans of a communicator are those of a whole piece and of the powers of two below it.
#pragma once

#include "interpose/calls.hpp"
#include "interpose/session.hpp"

#include <optional>

namespace kumihimo::interpose {

struct ExactAnswer {
  bool is_sum = false;     // false: not such a sum, or none is asked for
  std::optional<int> code; // nothing: handed on
};
// A call of allreduce or reduce.
ExactAnswer take_exact(CollectiveKind kind, Call call);

// The reduction of a question that take_exact() asks, of `type` by the operation `user`.
Result<execute::Reduction> exact_reduction(const Collective& question);

} // namespace kumihimo::interpose
