#include "simulate/simulate.hpp"

#include "simulate/bound/bound.hpp"
#include "simulate/exact/exact.hpp"
#include "simulate/flow/flow.hpp"

#include <algorithm>

namespace kumihimo {

std::string_view name_of(Model model) {
  switch (model) {
  case Model::bound:
    return "bound";
  case Model::flow:
    return "flow";
  case Model::exact:
    return "exact";
  }
  return "unknown";
}

Seconds Prediction::bound() const {
  Seconds highest;
  for (const LowerBound& b : bounds) highest = std::max(highest, b.seconds);
  return highest;
}

Result<Prediction> simulate_bound(const Collective& collective, const Machine& machine,
                                  std::span<const NodeId> node_of_rank, const SimulateOptions& options) {
  auto network = simulation::Network::make(machine, collective.ranks, node_of_rank, options.scalar_reduction);
  if (!network) return network.error();
  Prediction p;
  p.model = Model::bound;
  p.bounds = simulation::lower_bounds(collective, *network);
  p.seconds = p.bound();
  for (const LowerBound& b : p.bounds)
    if (b.seconds == p.seconds) p.limiting = b.name;
  p.links = machine.topology->links();
  return p;
}

Result<Prediction> simulate(const Schedule& schedule, const Machine& machine, std::span<const NodeId> node_of_rank,
                            const SimulateOptions& options) {
  if (options.model == Model::bound) return simulate_bound(schedule.collective, machine, node_of_rank, options);
  auto network = simulation::Network::make(machine, schedule.ranks(), node_of_rank, options.scalar_reduction);
  if (!network) return network.error();
  auto p = options.model == Model::exact ? simulation::predict_exact(schedule, *network)
                                         : simulation::predict_flow(schedule, *network, options.most_steps);
  if (!p) return p;
  p->bounds = simulation::lower_bounds(schedule.collective, *network);
  if (!options.keep_link_bytes) p->link_bytes = {};
  return p;
}

} // namespace kumihimo
