// Runs a schedule in the loopback and judges it: post-condition, equal bits on all ranks and in every interleaving,
// inputs left alone, nothing written outside the buffers.
#pragma once

#include "loopback/run_loopback.hpp"
#include "post_condition.hpp"
#include "schedule/schedule.hpp"

namespace conformance {

struct Problem {
  kumihimo::Collective collective;
  Arithmetic arithmetic;
  std::uint64_t seed = 1;
};

// A case that has run: the outputs of all ranks.
struct Answer {
  std::vector<Buffer> inputs, outputs;
};

// Once. Error: what went wrong, in words.
kumihimo::Result<Answer> run_once(const kumihimo::Schedule& schedule, const Problem& problem,
                                  const kumihimo::execute::LoopbackRun& options);

// Several times, plain and with random delays.
kumihimo::Result<Answer> check(const kumihimo::Schedule& schedule, const Problem& problem);

} // namespace conformance
