#include "machine/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kumihimo {
namespace {

Slots declared(const Machine& machine) {
  return {machine.topology->nodes(),
          static_cast<std::int32_t>(std::max<std::int64_t>(1, machine.node.default_ranks_per_node.value))};
}

} // namespace

Job::Job(Machine all) : machine(std::move(all)), slots(declared(machine)) {}

Result<Job> Job::with_ranks_per_node(Machine machine, std::int64_t ranks) {
  const std::int32_t nodes = machine.topology->nodes();
  const std::int64_t most = std::numeric_limits<std::int32_t>::max() / nodes;
  if (ranks < 1 || ranks > most)
    return wrong_value(fmt::format("{} takes 1 to {} ranks per node", machine.name, most), ranks);
  return Job(std::move(machine), Slots(nodes, static_cast<std::int32_t>(ranks)));
}

Result<Job> Job::with_node_sizes(Machine machine, const std::vector<std::int32_t>& sizes) {
  const std::int32_t nodes = machine.topology->nodes();
  if (sizes.size() != static_cast<std::size_t>(nodes))
    return wrong_value(fmt::format("the list of ranks per node needs a number for each of the {} nodes of {}", nodes,
                                   machine.topology->name()),
                       static_cast<std::int64_t>(sizes.size()));
  auto slots = TRY(Slots::of_nodes(sizes));
  return Job(std::move(machine), std::move(slots));
}

RankSpace Job::rank_space() const {
  if (machine.family == Family::single_node) return RankSpace::node(slots.size(), levels());
  if (!slots.are_even()) return Placement::block(slots).rank_space(machine.shape);
  const std::int32_t each = slots.on(NodeId{0});
  if (const Switched* on = machine.switched()) return RankSpace::on_switches(on->nodes(), each, on->levels());
  return RankSpace::box(machine.shape, each);
}

RankSpace Job::rank_space(const Placement& placement) const {
  const bool whole = placement.is_block() && placement.ranks() == slots.size();
  return whole ? rank_space() : placement.rank_space(machine.shape);
}

const std::vector<Level>& Job::levels() const {
  static const std::vector<Level> none;
  return machine.family == Family::single_node && slots.size() <= machine.node.cores.value ? machine.levels : none;
}

} // namespace kumihimo
