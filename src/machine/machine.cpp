#include "machine/machine.hpp"

#include "machine/slow_parts.hpp"
#include "topology/single_node.hpp"
#include "topology/torus.hpp"

#include <fmt/format.h>

#include <limits>

namespace kumihimo {
Status place_slow_parts(Machine& machine) {
  const std::int32_t nodes = machine.topology->nodes();
  for (const SlowNode& slow : machine.slow_nodes)
    if (slow.node.value >= nodes)
      return bad_input(fmt::format("expected the machine's slow nodes to lie in {}, nodes 0 to {}",
                                   machine.topology->name(), nodes - 1),
                       fmt::format("slow node {}", slow.node.value),
                       "take a larger shape, or a node of this one in the machine file");
  for (SlowLink& slow : machine.slow_links) {
    const auto link = find_link(*machine.topology, slow.from, slow.to);
    if (!link)
      return bad_input(
          fmt::format("expected the machine's slow links to join neighbours in {}", machine.topology->name()),
          fmt::format("a slow link from node {} to node {}", slow.from.value, slow.to.value),
          "take another shape, or neighbours of this one in the machine file");
    slow.link = *link;
  }
  return Nothing{};
}

std::string_view name_of(Family family) {
  switch (family) {
  case Family::torus:
    return "torus";
  case Family::tofu:
    return "tofu";
  case Family::single_node:
    return "single_node";
  }
  return "unknown";
}

TopologyPtr make_topology(Family family, const Shape& shape) {
  if (family == Family::single_node) return std::make_shared<SingleNode>();
  return std::make_shared<Torus>(shape);
}

std::optional<LinkId> find_link(const Topology& topology, NodeId from, NodeId to) {
  const auto exists = [&](NodeId node) { return node.value >= 0 && node.value < topology.nodes(); };
  if (!exists(from) || !exists(to) || topology.distance(from, to) != 1) return std::nullopt;
  std::vector<LinkId> route;
  topology.append_route(from, to, route);
  return route.front();
}

Result<Machine> Machine::with_shape(const Shape& job) const {
  if (family == Family::single_node)
    return bad_input(fmt::format("expected no shape for {}, which is a single node", name), job.text(),
                     "say how many ranks the node has instead");
  const std::int64_t most = tofu ? tofu->nodes() : shape.places();
  if (job.places() > most)
    return bad_input(fmt::format("expected a job of at most {} nodes, those of {} ({})", most, name, topology->name()),
                     fmt::format("{}, which has {}", job.text(), job.places()), "take a smaller shape");
  if (family == Family::tofu) return with_torus(*this, lay_job(*tofu, job));
  Machine machine = as_torus(job);
  if (const Status placed = place_slow_parts(machine); !placed) return placed.error();
  return machine;
}

Machine Machine::as_torus(const Shape& torus) const {
  Machine machine = *this;
  machine.family = Family::torus;
  machine.shape = torus;
  machine.topology = std::make_shared<Torus>(torus);
  machine.tofu = nullptr;
  return machine;
}

Result<Machine> Machine::with_ranks_per_node(std::int64_t ranks) const {
  const std::int64_t most = std::numeric_limits<std::int32_t>::max() / topology->nodes();
  if (ranks < 1 || ranks > most)
    return bad_input(fmt::format("expected 1 to {} ranks a node on {}", most, name), fmt::format("{}", ranks),
                     "take another number of ranks per node");
  Machine machine = *this;
  machine.node.ranks_per_node = {ranks, Provenance::assumed, "asked for"};
  return machine;
}

RankSpace Machine::rank_space() const {
  const auto ranks = static_cast<std::int32_t>(node.ranks_per_node.value);
  return family == Family::single_node ? RankSpace::node(ranks) : RankSpace::box(shape, ranks);
}

double Machine::node_factor(NodeId wanted) const {
  for (const SlowNode& slow : slow_nodes)
    if (slow.node == wanted) return slow.factor;
  return 1;
}

double Machine::link_factor(LinkId wanted) const {
  for (const SlowLink& slow : slow_links)
    if (slow.link == wanted) return slow.factor;
  return 1;
}

} // namespace kumihimo
