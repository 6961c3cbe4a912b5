#include "loopback/run_loopback.hpp"

#include "execute/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>

namespace kumihimo::execute {
namespace {

using transport::Loopback;

// The execution of one rank, and the messages by puts below it.
struct RankExecution {
  std::unique_ptr<transport::PutMessages> puts;
  std::unique_ptr<Execution> execution;
  Transport* transport = nullptr;

  Status prepare(const CompiledProgram& program, Transport& below, const LoopbackRun& run,
                 std::vector<TraceEvent>& trace) {
    if (run.puts) puts = std::make_unique<transport::PutMessages>(below, *run.puts);
    transport = puts ? puts.get() : &below;
    auto prepared = Execution::prepare(program, *transport);
    if (!prepared) return prepared.error();
    execution = *std::move(prepared);
    if (run.trace) execution->set_trace(&trace);
    return Nothing{};
  }
};

// All ranks on this thread; with delays each round of turns is in another order.
Status run_by_turns(Loopback& loopback, std::span<const CompiledProgram> programs, std::span<const Buffers> buffers,
                    const LoopbackRun& run, const transport::Reduction& reduction, LoopbackReport& report) {
  std::vector<RankExecution> ranks(programs.size());
  std::vector<std::size_t> running(programs.size());
  std::iota(running.begin(), running.end(), std::size_t{0});
  const auto fail = [&](std::size_t r, const Error& error) -> Status {
    loopback.leave(Rank{static_cast<std::int32_t>(r)}, error);
    return loopback.outcome();
  };
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    Transport& below = loopback.transport(Rank{static_cast<std::int32_t>(r)});
    if (Status s = ranks[r].prepare(programs[r], below, run, report.traces[r]); !s) return fail(r, s.error());
    if (Status s = ranks[r].execution->reserve(); !s) return fail(r, s.error());
    ranks[r].execution->start(buffers[r], reduction, transport::Stream::blocking);
  }
  // One turn. True: its run is over.
  const auto turn = [&](std::size_t r) -> Result<bool> {
    const Result<bool> done = ranks[r].execution->advance();
    if (!done || *done) return done;
    switch (ranks[r].transport->progress()) {
    case Transport::Progress::failed: return ranks[r].transport->error();
    case Transport::Progress::nothing: ranks[r].transport->idle(); break;
    case Transport::Progress::moved: break;
    }
    return false;
  };
  std::mt19937_64 random(run.seed);
  while (!running.empty()) {
    if (run.delays) std::shuffle(running.begin(), running.end(), random);
    for (std::size_t i = 0; i < running.size();) {
      const std::size_t r = running[i];
      const Result<bool> done = turn(r);
      if (!done) return fail(r, done.error());
      if (!*done) {
        ++i;
        continue;
      }
      report.totals[r] = ranks[r].execution->totals();
      loopback.leave(Rank{static_cast<std::int32_t>(r)});
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return loopback.outcome();
}

Status run_on_threads(Loopback& loopback, std::span<const CompiledProgram> programs, std::span<const Buffers> buffers,
                      const LoopbackRun& run, const transport::Reduction& reduction, LoopbackReport& report) {
  return run_ranks(loopback, static_cast<std::int32_t>(programs.size()), [&](Rank rank, Transport& below) -> Status {
    const auto r = static_cast<std::size_t>(rank.value);
    RankExecution own;
    if (Status s = own.prepare(programs[r], below, run, report.traces[r]); !s) return s;
    const Status done = own.execution->run(buffers[r], reduction);
    report.totals[r] = own.execution->totals();
    return done;
  });
}

} // namespace

Result<LoopbackReport> run_loopback(const ProgramSet& schedule, std::span<const Buffers> buffers,
                                    const LoopbackRun& run, const transport::Reduction& given,
                                    const CompileOptions& compiling) {
  const std::int32_t ranks = schedule.ranks();
  if (static_cast<std::int32_t>(buffers.size()) != ranks)
    return wrong_value(fmt::format("there must be buffers for {} ranks", ranks),
                       static_cast<std::int64_t>(buffers.size()));
  transport::Reduction reduction = given;
  if (!given.exists()) {
    const Result<transport::Reduction> found = find_reduction(schedule.data->type, schedule.data->operation);
    if (!found) return found.error();
    reduction = *found;
  }
  std::vector<CompiledProgram> programs;
  std::map<LaneId, std::vector<Rank>> participants;
  for (std::int32_t r = 0; r < ranks; ++r) {
    Result<CompiledProgram> program = compile(schedule, Rank{r}, compiling);
    if (!program) return program.error();
    for (const LaneCode& lane : program->lanes()) participants[lane.id].push_back(Rank{r});
    programs.push_back(*std::move(program));
  }
  Loopback loopback(ranks, run);
  for (auto& [lane, who] : participants) loopback.set_participants(lane, std::move(who));
  LoopbackReport report;
  report.totals.resize(buffers.size());
  report.traces.resize(buffers.size());
  const auto run_all = run.by_turns ? run_by_turns : run_on_threads;
  if (const Status status = run_all(loopback, programs, buffers, run, reduction, report); !status)
    return status.error();
  return report;
}

} // namespace kumihimo::execute
