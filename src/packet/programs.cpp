#include "packet/programs.hpp"

#include "goal/machine_rates.hpp"

#include <fmt/format.h>

namespace kumihimo::packet {

namespace {

Status check(const Job& job, std::int32_t ranks, const std::optional<Placement>& placement) {
  if (job.machine.whole_machine_error)
    return wrong_value(job.machine.whole_machine_error->problem, {}, "give a part of the machine by --shape or --box");
  if (ranks > job.slots.size() || (placement && placement->ranks() != ranks))
    return wrong_value(fmt::format("the job must have a slot for each of {} ranks", ranks),
                       placement ? placement->ranks() : job.slots.size(),
                       "give a larger --shape or more --ranks-per-node");
  return Nothing{};
}

} // namespace

Result<GraphOutcome> run(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                         const Options& options, Observers observers) {
  if (Status s = check(job, graphs.ranks(), placement); !s) return s.error();
  const Placement seats = placement ? *placement : Placement::block(job.slots, graphs.ranks());
  std::vector<std::int32_t> nodes;
  for (const NodeId node : seats.node_of_rank()) nodes.push_back(node.value);
  return run(job.machine, graphs, nodes, options, observers);
}

Result<GraphOutcome> run(const Job& job, const ProgramSet& programs, const std::optional<Placement>& placement,
                         const Options& options, bool scalar_reduction) {
  if (Status s = check(job, programs.ranks(), placement); !s) return s.error();
  Options as_in_flow = options;
  as_in_flow.waits_for_receive = true;
  return run(job, TRY(goal::graphs_of(programs, rates_of(job, scalar_reduction))), placement, as_in_flow);
}

goal::WorkRates rates_of(const Job& job, bool scalar_reduction) {
  goal::WorkRates rates = goal::rates_of(job, scalar_reduction);
  rates.cpus = 1, rates.nics = 256;
  return rates;
}

} // namespace kumihimo::packet
