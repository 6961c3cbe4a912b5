#include "packet/programs.hpp"

#include "hosts/software.hpp"

namespace kumihimo::packet {
Result<GraphOutcome> run(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                         const PacketOptions& options, Observers observers) {
  const auto nodes = TRY(hosts::nodes_of(job, graphs.ranks(), placement));
  return run(job.machine, graphs, nodes, options, observers);
}

Result<GraphOutcome> run(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                         const Background& background, const PacketOptions& options) {
  const auto nodes = TRY(hosts::nodes_of(job, graphs.ranks(), placement));
  return run(job.machine, graphs, nodes, background, options);
}

Result<GraphOutcome> run(const Job& job, const ProgramSet& programs, const std::optional<Placement>& placement,
                         const PacketOptions& options, bool scalar_reduction, const Background& background) {
  const auto nodes = TRY(hosts::nodes_of(job, programs.ranks(), placement));
  const auto graphs = TRY(goal::graphs_of(programs, hosts::rates_of(job, scalar_reduction)));
  PacketOptions as_in_flow = options;
  as_in_flow.waits_for_receive = true, as_in_flow.unexpected = hosts::unexpected_bytes_of(job.machine);
  return run(job.machine, graphs, nodes, background, as_in_flow);
}

} // namespace kumihimo::packet
