// Proves programs, without knowing what made them. Pure: no MPI, clock, thread or file.
//
//   structure   programs are well formed (structure.hpp)
//   matching    every send meets its receive, as symbols (matching.hpp)
//   deadlock    none, with synchronous sends and the windows as given (execution.hpp)
//   overlap     no two steps of a rank in flight together touch the same bytes, one writing (memory.hpp)
//   dataflow    every contribution exactly once, in the same tree on all ranks; the collective's result, everywhere
//   claims      what the schedule asserts of itself (claims.hpp)
//
// Small schedules are executed whole: every segment, step and element. Large ones are matched whole, and sampled
// (segment, unit) pairs are followed through all ranks. Sampled are the first and last pair of the first and of the
// last segment, a few of the lanes' own, and some at random; sampled_elements.hpp says which, and what they miss. If
// ranks have blocks of their own (gather, alltoall, ...) there are no such samples.
#pragma once

#include "topology/rank_space.hpp"
#include "verify/post_condition.hpp"
#include "verify/report.hpp"

namespace kumihimo::verify {

Report check(const Subject& subject, const RankSpace* space = nullptr, const VerifyOptions& options = {});

// Without a space, claims about neighbours and links are not tested.
Report check(const Schedule& schedule, const RankSpace& space, const VerifyOptions& options = {});
Report check(const Schedule& schedule, const VerifyOptions& options = {});

} // namespace kumihimo::verify
