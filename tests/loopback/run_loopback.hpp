// Runs a schedule on ranks that are threads of this process, or driven by turns on the caller's thread.
#pragma once

#include "execute/engine.hpp"
#include "loopback/loopback.hpp"
#include "loopback/put_messages.hpp"
#include "schedule/schedule.hpp"

#include <optional>
#include <span>
#include <vector>

namespace kumihimo::execute {

struct LoopbackRun : transport::LoopbackOptions {
  bool trace = false;
  std::optional<transport::PutOptions> puts; // messages by puts with credits, in place of the loopback's own
};

struct LoopbackReport {
  std::vector<StartedTotals> totals;           // by rank
  std::vector<std::vector<TraceEvent>> traces; // by rank; empty without LoopbackRun::trace
};

// Runs the schedule once on all ranks, with the built-in loop of its operation or with `reduction` if that exists.
// buffers[r] are those of rank r. Errors: those of compile(), deadlock, messages of unequal lengths, the timeout.
Result<LoopbackReport> run_loopback(const ProgramSet& set, std::span<const Buffers> buffers, const LoopbackRun& run,
                                    const transport::Reduction& reduction, const CompileOptions& compiling);
inline Result<LoopbackReport> run_loopback(const Schedule& schedule, std::span<const Buffers> buffers,
                                           const LoopbackRun& run = {}, const transport::Reduction& reduction = {}) {
  return run_loopback(schedule, buffers, run, reduction, CompileOptions{{}, schedule.claims.in_place_safe});
}

} // namespace kumihimo::execute
