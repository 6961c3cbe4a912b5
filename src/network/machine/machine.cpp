#include "machine/machine.hpp"

#include "machine/internal.hpp"
#include "topology/single_node.hpp"
#include "topology/torus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kumihimo {
Status place_slow_parts(Machine& machine) {
  const std::int32_t nodes = machine.topology->nodes();
  for (const SlowNode& slow : machine.slow_nodes)
    if (slow.node.value >= nodes)
      return wrong_value(fmt::format("the slow nodes of the machine must lie in {}, nodes 0 to {}",
                                     machine.topology->name(), nodes - 1),
                         slow.node.value, "take a larger shape, or change the node in the machine file");
  for (SlowLink& slow : machine.slow_links) {
    const auto link = find_link(*machine.topology, slow.from, slow.to);
    if (!link)
      return wrong_value(
          fmt::format("the slow links of the machine must join neighbours in {}", machine.topology->name()),
          fmt::format("node {} to node {}", slow.from.value, slow.to.value),
          "take another shape, or change the link in the machine file");
    slow.link = *link;
  }
  return Nothing{};
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
    return wrong_value(fmt::format("{} is a single node and takes no shape", name), job.text(),
                       "give the number of ranks of the node instead");
  const std::int64_t most = tofu ? tofu->nodes() : topology->nodes();
  if (job.places() > most)
    return wrong_value(fmt::format("a job on {} ({}) has at most {} nodes", name, topology->name(), most),
                       job.dimensions() > 1 ? fmt::format("{}, {} nodes", job.text(), job.places()) : job.text(),
                       "take a smaller shape");
  if (family == Family::tofu) return with_torus(*this, lay_job(*tofu, job));
  if (switched() && job.dimensions() > 1)
    return wrong_value(fmt::format("the nodes of {} ({}) have no axes", name, topology->name()), job.text(),
                       fmt::format("give their number: {}", job.places()));
  Machine machine = *this;
  if (switched()) {
    machine.set_topology(switched()->part(job.places()));
    if (job.places() == topology->nodes()) machine.node_names = node_names; // of a part nobody knows which they are
  } else if (torus) {
    const auto placed = TRY(torus->place(job));
    machine.shape = placed;
    machine.set_topology(torus->network(placed));
  } else {
    machine = as_torus(job);
  }
  if (const Status placed = place_slow_parts(machine); !placed) return placed.error();
  return machine;
}

Machine Machine::as_torus(const Shape& wanted) const {
  Machine machine = *this;
  machine.family = Family::torus;
  machine.shape = wanted;
  machine.set_topology(std::make_shared<Torus>(wanted));
  machine.tofu = nullptr;
  machine.torus = nullptr;
  return machine;
}

Result<Machine> Machine::with_slow(const std::vector<SlowNode>& nodes, const std::vector<SlowLink>& links) const {
  const auto twice = [](const std::string& part) {
    return wrong_value("a slow part must be named once", part, "leave one of the factors out");
  };
  Machine machine = *this;
  for (const SlowNode& slow : nodes) {
    if (slow.node.value < 0 || slow.node.value >= topology->nodes())
      return wrong_value(fmt::format("a slow node must be one of 0 to {}", topology->nodes() - 1), slow.node.value);
    for (const SlowNode& other : machine.slow_nodes)
      if (other.node == slow.node) return twice(fmt::format("node {}", slow.node.value));
    machine.slow_nodes.push_back(slow);
  }
  if (!links.empty() && (switched() || family == Family::single_node))
    return wrong_value("slow links need a torus, a mesh or Tofu", topology->name(), "name slow nodes only");
  for (SlowLink slow : links) {
    const std::string ends = fmt::format("node {} to node {}", slow.from.value, slow.to.value);
    const auto link = find_link(*topology, slow.from, slow.to);
    if (!link) return wrong_value(fmt::format("a slow link must join neighbours in {}", topology->name()), ends);
    slow.link = *link;
    for (const SlowLink& other : machine.slow_links)
      if (other.link == slow.link) return twice(ends);
    machine.slow_links.push_back(slow);
  }
  return machine;
}

Result<Machine> Machine::with_routing(std::string_view routing) const {
  const auto known = switched() ? switched()->routings() : std::vector<std::string_view>{};
  if (std::find(known.begin(), known.end(), routing) == known.end())
    return wrong_value(fmt::format("{} has {}", name, known.empty() ? "one routing" : "no such routing"),
                       fmt::format("'{}'", routing),
                       known.empty() ? "leave it out" : fmt::format("use {}", fmt::join(known, " or ")));
  Machine machine = *this;
  machine.set_topology(switched()->routed(routing));
  machine.node_names = node_names;
  return machine;
}

const Switched* Machine::switched() const { return dynamic_cast<const Switched*>(topology.get()); }

Bytes Machine::segment_bytes(Bytes vector) const {
  const std::int64_t most = software.segment_bytes.value.value;
  if (!software.segment_scale) return {most};
  const double best =
      std::sqrt(static_cast<double>(vector.value) * static_cast<double>(software.segment_scale->value.value));
  return {std::clamp<std::int64_t>(static_cast<std::int64_t>(best), 1, most)};
}

BytesPerSecond Machine::link_bandwidth(std::int32_t link_class) const {
  const auto at = static_cast<std::size_t>(link_class);
  if (at < network.classes.size() && network.classes[at].bandwidth) return network.classes[at].bandwidth->value;
  return network.link_bandwidth.value;
}

Seconds Machine::hop_latency(std::int32_t link_class) const {
  const auto at = static_cast<std::size_t>(link_class);
  if (at < network.classes.size() && network.classes[at].latency) return network.classes[at].latency->value;
  return network.hop_latency.value;
}

void Machine::set_topology(TopologyPtr wanted) {
  std::vector<LinkClass> classes;
  for (const std::string& link_class : wanted->link_classes()) {
    classes.push_back({link_class, "link_bandwidth_" + link_class, "hop_latency_" + link_class, {}, {}});
    for (const LinkClass& mine : network.classes)
      if (mine.name == link_class) classes.back().bandwidth = mine.bandwidth, classes.back().latency = mine.latency;
  }
  network.classes = std::move(classes);
  topology = std::move(wanted);
  node_names.clear();
}

Status Machine::set_levels(std::vector<Level> wanted) {
  for (auto inner = wanted.begin(); inner != wanted.end(); ++inner)
    for (auto outer = wanted.begin(); outer != inner; ++outer)
      if (outer->name == inner->name || !nests_in(*inner, *outer))
        return wrong_value("levels of cores must have different names, outermost first, and divide the one before",
                           fmt::format("\"{} {}\" after \"{} {}\"", inner->name, inner->size, outer->name, outer->size),
                           "leave one of the two out");
  node.levels.clear();
  for (const auto& [level, size] : wanted)
    node.levels.push_back({level,
                           "shared_memory_bandwidth_" + level,
                           "shared_memory_latency_" + level,
                           "link_bandwidth_" + level,
                           {},
                           {},
                           {}});
  levels = std::move(wanted);
  return Nothing{};
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
