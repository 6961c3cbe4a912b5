#include "packet/programs.hpp"

#include "goal/machine_rates.hpp"
#include "hosts/software.hpp"

namespace kumihimo::packet {
Result<GraphOutcome> run(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                         const Options& options, Observers observers) {
  const auto nodes = TRY(hosts::nodes_of(job, graphs.ranks(), placement));
  return run(job.machine, graphs, nodes, options, observers);
}

Result<GraphOutcome> run(const Job& job, const ProgramSet& programs, const std::optional<Placement>& placement,
                         const Options& options, bool scalar_reduction, const Background& background) {
  const auto nodes = TRY(hosts::nodes_of(job, programs.ranks(), placement));
  const auto graphs = TRY(goal::graphs_of(programs, rates_of(job, scalar_reduction)));
  Options as_in_flow = options;
  as_in_flow.waits_for_receive = true;
  return run(job.machine, graphs, nodes, background, as_in_flow);
}

goal::WorkRates rates_of(const Job& job, bool scalar_reduction) {
  goal::WorkRates rates = goal::rates_of(job, scalar_reduction);
  rates.cpus = 1, rates.nics = 256;
  return rates;
}

} // namespace kumihimo::packet
