#include "packet/programs.hpp"

#include "goal/machine_rates.hpp"

#include <fmt/format.h>

namespace kumihimo::packet {

Result<GraphOutcome> run(const Job& job, const ProgramSet& programs, const std::optional<Placement>& placement,
                         const Options& options, bool scalar_reduction, const Background& background) {
  if (job.machine.whole_machine_error)
    return wrong_value(job.machine.whole_machine_error->problem, {}, "give a part of the machine by --shape or --box");
  const std::int32_t ranks = programs.ranks();
  if (ranks > job.slots.size() || (placement && placement->ranks() != ranks))
    return wrong_value(fmt::format("the job must have a slot for each of {} ranks", ranks),
                       placement ? placement->ranks() : job.slots.size(),
                       "give a larger --shape or more --ranks-per-node");
  goal::WorkRates rates = goal::rates_of(job, scalar_reduction);
  rates.cpus = 1, rates.nics = 256;
  const auto graphs = TRY(goal::graphs_of(programs, rates));
  const Placement seats = placement ? *placement : Placement::block(job.slots, ranks);
  std::vector<std::int32_t> nodes;
  for (const NodeId node : seats.node_of_rank()) nodes.push_back(node.value);
  Options as_in_flow = options;
  as_in_flow.waits_for_receive = true;
  return run(job.machine, graphs, nodes, background, as_in_flow);
}

} // namespace kumihimo::packet
