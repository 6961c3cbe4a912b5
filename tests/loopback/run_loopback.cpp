#include "loopback/run_loopback.hpp"

#include "execute/engine.hpp"

#include <fmt/format.h>

#include <map>

namespace kumihimo::execute {

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
  transport::Loopback loopback(ranks, run);
  for (auto& [lane, who] : participants) loopback.set_participants(lane, std::move(who));
  LoopbackReport report;
  report.totals.resize(buffers.size());
  report.traces.resize(buffers.size());
  const Status status = run_ranks(loopback, ranks, [&](Rank rank, transport::Transport& loopback_transport) -> Status {
    const auto r = static_cast<std::size_t>(rank.value);
    std::optional<transport::PutMessages> puts;
    if (run.puts) puts.emplace(loopback_transport, *run.puts);
    auto execution =
        Execution::prepare(programs[r], puts ? static_cast<transport::Transport&>(*puts) : loopback_transport);
    if (!execution) return execution.error();
    if (run.trace) (*execution)->set_trace(&report.traces[r]);
    const Status done = (*execution)->run(buffers[r], reduction);
    report.totals[r] = (*execution)->totals();
    return done;
  });
  if (!status) return status.error();
  return report;
}

} // namespace kumihimo::execute
