#include "packet/programs.hpp"

#include "goal/machine_rates.hpp"

#include <fmt/format.h>

namespace kumihimo::packet {
namespace {

Result<std::vector<std::int32_t>> nodes_of(const Job& job, std::int32_t ranks,
                                           const std::optional<Placement>& placement) {
  if (job.machine.whole_machine_error)
    return wrong_value(job.machine.whole_machine_error->problem, {}, "give a part of the machine by --shape or --box");
  if (ranks > job.slots.size() || (placement && placement->ranks() != ranks))
    return wrong_value(fmt::format("the job must have a slot for each of {} ranks", ranks),
                       placement ? placement->ranks() : job.slots.size(),
                       "give a larger --shape or more --ranks-per-node");
  const Placement seats = placement ? *placement : Placement::block(job.slots, ranks);
  std::vector<std::int32_t> nodes;
  for (const NodeId node : seats.node_of_rank()) nodes.push_back(node.value);
  return nodes;
}

} // namespace

Result<GraphOutcome> run(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                         const Options& options, Observers observers) {
  const auto nodes = TRY(nodes_of(job, graphs.ranks(), placement));
  return run(job.machine, graphs, nodes, options, observers);
}

Result<GraphOutcome> run(const Job& job, const ProgramSet& programs, const std::optional<Placement>& placement,
                         const Options& options, bool scalar_reduction, const Background& background) {
  const auto nodes = TRY(nodes_of(job, programs.ranks(), placement));
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
