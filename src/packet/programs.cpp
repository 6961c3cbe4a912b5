#include "packet/programs.hpp"

#include "goal/programs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::packet {
namespace {

goal::WorkRates rates_of(const Job& job, bool scalar_reduction) {
  const NodeNumbers& node = job.machine.node;
  const double share = 1.0 / std::max(1, job.slots.size() / std::max(1, job.slots.nodes())); // ranks share a node
  goal::WorkRates rates;
  rates.reduced = (scalar_reduction ? node.reduction_rate_scalar : node.reduction_rate).value.value;
  rates.copied = node.shared_memory_bandwidth.value.value;
  rates.compute = {node.flop_rate ? node.flop_rate->value.value * share : 0, node.memory_bandwidth.value.value * share};
  rates.cpus = 1, rates.nics = 256;
  return rates;
}

} // namespace

Result<GraphOutcome> run(const Job& job, const ProgramSet& programs, const std::optional<Placement>& placement,
                         const Options& options, bool scalar_reduction, const std::function<bool()>& go_on) {
  if (job.machine.whole_machine_error)
    return wrong_value(job.machine.whole_machine_error->problem, {}, "give a part of the machine by --shape or --box");
  const std::int32_t ranks = programs.ranks();
  if (ranks > job.slots.size() || (placement && placement->ranks() != ranks))
    return wrong_value(fmt::format("the job must have a slot for each of {} ranks", ranks),
                       placement ? placement->ranks() : job.slots.size(),
                       "give a larger --shape or more --ranks-per-node");
  const auto graphs = TRY(goal::graphs_of(programs, rates_of(job, scalar_reduction)));
  const Placement seats = placement ? *placement : Placement::block(job.slots, ranks);
  std::vector<std::int32_t> nodes;
  for (const NodeId node : seats.node_of_rank()) nodes.push_back(node.value);
  return run(job.machine, graphs, nodes, options, go_on);
}

} // namespace kumihimo::packet
