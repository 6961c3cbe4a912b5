#include "packet/fabric.hpp"

#include "topology/dragonfly.hpp"
#include "topology/fat_tree.hpp"
#include "topology/router_torus.hpp"
#include "topology/virtual_torus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace kumihimo::packet {
namespace {

constexpr std::int32_t most_channels = 8, most_axes = 6;
constexpr std::int64_t most_wire_bytes = 65535, most_engines = 16;
constexpr std::size_t most_speeds = 65535;
constexpr std::int64_t most_buffer_packets = 255;
constexpr double least_factor = 1e-6;                                // of a slow part: times are 64 bits of picoseconds
constexpr std::uint64_t most_bins_of_links = std::uint64_t{1} << 26; // of 8 bytes
constexpr std::uint64_t most_queues = std::uint64_t{1} << 30; // of the network: kinds of events have the upper bits

std::uint64_t femtoseconds(double bytes_per_second) {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(1e15 / bytes_per_second)));
}

Status check(const Machine& machine, const PacketOptions& options) {
  if (machine.family == Family::single_node)
    return not_applicable("the packet model needs a network between nodes", machine.name,
                          "take --model flow for a single node");
  if (machine.family == Family::routes)
    return not_applicable("the packet model needs links that join two places each, which a table of routes has not",
                          machine.name, "take --model flow");
  if (options.packet_bytes < 1 || options.header_bytes < 0 ||
      options.packet_bytes + options.header_bytes > most_wire_bytes)
    return wrong_value(fmt::format("a packet must have 1 to {} bytes with its header", most_wire_bytes),
                       fmt::format("{} and a header of {}", options.packet_bytes, options.header_bytes));
  if (options.buffer_packets < 0 || options.buffer_packets > most_buffer_packets)
    return wrong_value(fmt::format("a buffer must hold 1 to {} packets", most_buffer_packets), options.buffer_packets);
  if (options.bins < 2 || options.bins > 1 << 20)
    return wrong_value("the number of bins must be 2 to 1048576", options.bins);
  const auto is_too_slow = [](const auto& slow) { return slow.factor < least_factor; };
  if (std::any_of(machine.slow_nodes.begin(), machine.slow_nodes.end(), is_too_slow) ||
      std::any_of(machine.slow_links.begin(), machine.slow_links.end(), is_too_slow))
    return not_applicable(fmt::format("the packet model knows slow parts of a factor of at least {:g}", least_factor),
                          {}, "take a larger factor");
  const auto links = static_cast<std::uint64_t>(machine.topology->link_bound());
  if (options.links_over_time && links * static_cast<std::uint64_t>(options.bins) > most_bins_of_links)
    return not_applicable(
        fmt::format("--page may show at most {} cells of links times {} bins", most_bins_of_links, options.bins),
        links * static_cast<std::uint64_t>(options.bins), "take a smaller --shape");
  if (machine.network.engines.value > most_engines)
    return not_applicable(fmt::format("the packet model knows at most {} engines a node", most_engines),
                          machine.network.engines.value);
  return Nothing{};
}

const VirtualTorus* virtual_torus(const Topology& topology) { return dynamic_cast<const VirtualTorus*>(&topology); }

// The torus whose axes all routes take in order; none on other networks.
std::shared_ptr<const Torus> torus_of(const TopologyPtr& topology) {
  if (auto torus = std::dynamic_pointer_cast<const Torus>(topology)) return torus;
  const VirtualTorus* const on_tofu = virtual_torus(*topology);
  if (!on_tofu || !on_tofu->tofu().whole()) return nullptr;
  return {topology, &on_tofu->tofu().torus()};
}

// What numbers the links and knows their ends.
const Topology& physical(const Topology& topology) {
  const VirtualTorus* const on_tofu = virtual_torus(topology);
  return on_tofu ? static_cast<const Topology&>(on_tofu->tofu()) : topology;
}
const Torus* torus_below(const Topology& topology) {
  if (const VirtualTorus* const on_tofu = virtual_torus(topology)) return &on_tofu->tofu().torus();
  return dynamic_cast<const Torus*>(&topology);
}

std::vector<std::int32_t> axes_of(const Topology& topology, const Torus& torus) {
  if (virtual_torus(topology)) return {Tofu::x, Tofu::y, Tofu::z, Tofu::a, Tofu::c, Tofu::b};
  std::vector<std::int32_t> axes(static_cast<std::size_t>(torus.shape().dimensions()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

void add_vertices(Fabric& fabric) {
  const Topology& topology = *fabric.topology;
  fabric.vertices = physical(topology).nodes() + topology.switches();
  fabric.vertex.resize(static_cast<std::size_t>(topology.nodes()));
  std::iota(fabric.vertex.begin(), fabric.vertex.end(), 0);
  if (const VirtualTorus* const on_tofu = virtual_torus(topology))
    for (std::int32_t& v : fabric.vertex) v = on_tofu->tofu().node(on_tofu->place(NodeId{v})).value;
}

void add_links(Fabric& fabric) {
  const Topology& topology = *fabric.topology;
  const Topology& numbered = physical(topology);
  const Torus* const torus = torus_below(topology);
  fabric.links = static_cast<std::uint32_t>(numbered.link_bound());
  fabric.from.assign(fabric.links, -1), fabric.to.assign(fabric.links, -1);
  const std::int32_t ports = torus ? 2 * torus->shape().dimensions() : 1;
  for (std::uint32_t i = 0; i < fabric.links; ++i) {
    const LinkId link{i};
    if (!numbered.is_link(link)) continue;
    if (torus) { // names are slow to make
      const NodeId node{static_cast<std::int32_t>(i) / ports};
      const auto direction = i % 2 == 0 ? Torus::Direction::plus : Torus::Direction::minus;
      fabric.from[i] = node.value,
      fabric.to[i] = torus->neighbour(node, static_cast<std::int32_t>(i) % ports / 2, direction).value;
    } else {
      const Topology::Link ends = numbered.describe(link);
      fabric.from[i] = ends.from.value, fabric.to[i] = ends.to.value;
    }
  }
}

Status add_speeds(Fabric& fabric, const Machine& machine) {
  using Key = std::tuple<std::int32_t, double>; // class, factor
  std::map<Key, std::uint16_t> known;
  std::map<std::int64_t, double> factors;
  for (const SlowLink& slow : machine.slow_links)
    factors.try_emplace(slow.link.value, 1.0).first->second *= slow.factor;
  fabric.speed.assign(fabric.links, 0);
  for (std::uint32_t i = 0; i < fabric.links; ++i) {
    if (fabric.from[i] < 0) continue;
    const auto slow = factors.find(i);
    const Key key{machine.topology->link_class(LinkId{i}), slow == factors.end() ? 1.0 : slow->second};
    const auto [at, added] = known.try_emplace(key, static_cast<std::uint16_t>(fabric.speeds.size()));
    fabric.speed[i] = at->second;
    if (!added) continue;
    if (fabric.speeds.size() == most_speeds)
      return not_applicable(fmt::format("the packet model knows at most {} different speeds of links", most_speeds), {},
                            "take --model flow, or give slow links fewer factors");
    const auto [link_class, factor] = key;
    const double latency = machine.hop_latency(link_class).value;
    fabric.speeds.push_back({femtoseconds(machine.link_bandwidth(link_class).value * factor),
                             std::max<Time>(1, static_cast<Time>(std::llround(latency * 1e12))), link_class});
  }
  return Nothing{};
}

void add_engines(Fabric& fabric, const Machine& machine) {
  const NetworkNumbers& net = machine.network;
  const double one = net.engine_bandwidth.value.value, all = net.injection_bandwidth.value.value;
  const auto vertices = static_cast<std::size_t>(fabric.vertices);
  fabric.engines = static_cast<std::int32_t>(net.engines.value);
  fabric.usual_engine = femtoseconds(one);
  fabric.engine.assign(vertices, fabric.usual_engine);
  fabric.injection.assign(vertices, all < one * static_cast<double>(net.engines.value) ? femtoseconds(all) : 0);
  for (const SlowNode& slow : machine.slow_nodes) {
    const auto v = static_cast<std::size_t>(fabric.vertex[static_cast<std::size_t>(slow.node.value)]);
    const double factor = machine.node_factor(slow.node);
    fabric.engine[v] = femtoseconds(one * factor);
    if (fabric.injection[v] > 0) fabric.injection[v] = femtoseconds(all * factor);
  }
}

Status add_arriving(Fabric& fabric) {
  std::vector<std::uint32_t> count(static_cast<std::size_t>(fabric.vertices));
  fabric.place.assign(fabric.links, 0);
  for (std::uint32_t i = 0; i < fabric.links; ++i)
    if (fabric.to[i] >= 0)
      fabric.place[i] = static_cast<std::uint16_t>(count[static_cast<std::size_t>(fabric.to[i])]++);
  const std::uint32_t most = *std::max_element(count.begin(), count.end());
  if (most > most_links_at_switch) return too_many_links_at_switch(most, most_links_at_switch);
  fabric.most_arriving = static_cast<std::int32_t>(most);
  fabric.arriving.assign(count.size() * static_cast<std::size_t>(fabric.most_arriving), 0xFFFFFFFFU);
  for (std::uint32_t i = 0; i < fabric.links; ++i)
    if (fabric.to[i] >= 0)
      fabric.arriving[static_cast<std::size_t>(fabric.to[i]) * static_cast<std::size_t>(fabric.most_arriving) +
                      fabric.place[i]] = i;
  return Nothing{};
}

void add_coordinates(Fabric& fabric) {
  const Shape& shape = fabric.torus->shape();
  for (std::int32_t v = 0; v < fabric.vertices; ++v)
    for (const std::int32_t axis : fabric.axes)
      fabric.coordinates.push_back(static_cast<std::int16_t>(shape.coordinate(v, axis)));
}

// Links that routes take one after the other have rising numbers, if that is possible: axis by axis in the direction of
// the way; up a tree and down again; from a router to the cable between groups.
void add_order(Fabric& fabric) {
  const Topology& topology = *fabric.topology;
  const Torus* torus = torus_below(topology);
  std::uint32_t first = 0; // of the torus
  if (const auto* routers = dynamic_cast<const RouterTorus*>(&topology)) {
    torus = &routers->routers();
    first = 2 * static_cast<std::uint32_t>(routers->nodes());
  }
  const auto* tree = dynamic_cast<const FatTree*>(&topology);
  const bool dragonfly = dynamic_cast<const Dragonfly*>(&topology) != nullptr;
  std::vector<std::int32_t> turn; // of each axis
  if (torus) {
    const auto axes = axes_of(topology, *torus);
    turn.resize(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
      turn[static_cast<std::size_t>(axes[i])] = static_cast<std::int32_t>(i);
  }
  fabric.order.resize(fabric.links);
  for (std::uint32_t i = 0; i < fabric.links; ++i) {
    if (fabric.from[i] < 0) continue;
    const bool leaves = fabric.from[i] < topology.nodes(), enters = fabric.to[i] < topology.nodes();
    std::uint64_t& order = fabric.order[i];
    if (torus && i >= first) {
      const std::int32_t dimensions = torus->shape().dimensions(),
                         place = static_cast<std::int32_t>(i - first) / (2 * dimensions);
      const std::int32_t axis = static_cast<std::int32_t>(i - first) / 2 % dimensions,
                         at = torus->shape().coordinate(place, axis);
      order = static_cast<std::uint64_t>(turn[static_cast<std::size_t>(axis)] + 1) << 32 |
              static_cast<std::uint32_t>((i - first) % 2 == 0 ? at : torus->shape().length(axis) - 1 - at);
    } else if (tree) {
      const auto level = static_cast<std::uint64_t>(tree->link_class(LinkId{i}));
      order = fabric.to[i] > fabric.from[i] ? level : 2 * tree->tiers().size() - level;
    } else if (torus || dragonfly) {
      order = leaves ? 0 : enters ? std::uint64_t{1} << 62 : static_cast<std::uint64_t>(topology.link_class(LinkId{i}));
    } else {
      order = i;
    }
  }
}

std::int32_t channels_of(const Fabric& fabric, const std::vector<LinkId>& route) {
  std::int32_t channels = 1;
  for (std::size_t i = 1; i < route.size(); ++i)
    channels += fabric.order[static_cast<std::size_t>(route[i].value)] <=
                fabric.order[static_cast<std::size_t>(route[i - 1].value)];
  return channels;
}

// The most that a route needs: by the family, or by all routes of a small network.
std::int32_t most_channels_of(const Fabric& fabric) {
  const Topology& topology = *fabric.topology;
  constexpr std::int32_t all_pairs = 512;
  if (topology.nodes() > all_pairs) {
    if (dynamic_cast<const FatTree*>(&topology)) return 1;
    if (const auto* dragonfly = dynamic_cast<const Dragonfly*>(&topology))
      return dragonfly->routing() == "minimal" ? 3 : 5;
    if (virtual_torus(topology)) return 7;
    if (const auto* routers = dynamic_cast<const RouterTorus*>(&topology))
      return 1 + routers->routers().shape().dimensions();
    if (const auto* torus = torus_below(topology)) return 1 + torus->shape().dimensions();
    return topology.diameter();
  }
  std::int32_t most = 1;
  std::vector<LinkId> route;
  for (std::int32_t a = 0; a < topology.nodes(); ++a)
    for (std::int32_t b = 0; b < topology.nodes(); ++b) {
      route.clear();
      topology.append_route(NodeId{a}, NodeId{b}, route);
      most = std::max(most, channels_of(fabric, route));
    }
  return most;
}

bool short_axes(const Torus& torus) {
  const auto& axes = torus.shape().axes();
  return torus.shape().dimensions() <= most_axes &&
         std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.length <= (a.wraps ? 254 : 128); });
}

} // namespace

Error too_many_links_at_switch(std::int64_t links, std::int64_t most) {
  return not_applicable(fmt::format("the packet model knows at most {} links at a switch", most), links,
                        "take --model flow");
}

// A buffer's place is taken from the start of a packet on the link until the credit is back: two hops and the packet's
// time, twice on its own.
std::int64_t buffer_packets_of(const Machine& machine, const PacketOptions& options) {
  if (options.buffer_packets > 0) return options.buffer_packets;
  std::int64_t most = 4;
  const auto classes = std::max<std::size_t>(1, machine.topology->link_classes().size());
  for (std::size_t c = 0; c < classes; ++c) {
    const auto link_class = static_cast<std::int32_t>(c);
    const double wire = static_cast<double>(options.packet_bytes + options.header_bytes);
    const double packet = wire / machine.link_bandwidth(link_class).value;
    most = std::max(
        most, 2 + static_cast<std::int64_t>(std::ceil(2 * machine.hop_latency(link_class).value / packet - 1e-9)));
  }
  return std::min(most, most_buffer_packets);
}

Result<Fabric> Fabric::make(const Machine& machine, const PacketOptions& options) {
  if (Status s = check(machine, options); !s) return s.error();
  Fabric fabric;
  fabric.buffer_packets = buffer_packets_of(machine, options);
  fabric.topology = machine.topology;
  fabric.torus = torus_of(machine.topology);
  if (fabric.torus && !short_axes(*fabric.torus)) fabric.torus = nullptr;
  const bool adaptive = options.routing == Routing::adaptive;
  if (adaptive && !fabric.torus)
    return not_applicable("adaptive routing needs a torus, a mesh or a Tofu without dead parts, of at most 6 axes",
                          machine.topology->name(), "take dimension-order routing");
  add_vertices(fabric);
  add_links(fabric);
  if (Status s = add_speeds(fabric, machine); !s) return s.error();
  add_engines(fabric, machine);
  if (fabric.torus) {
    const auto& axes = fabric.torus->shape().axes();
    fabric.axes = axes_of(*fabric.topology, *fabric.torus);
    fabric.channels = std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.is_ring(); }) ? 2 : 1;
    fabric.channels += adaptive;
    add_coordinates(fabric);
  } else {
    add_order(fabric);
    fabric.channels = most_channels_of(fabric);
    if (fabric.channels > most_channels)
      return not_applicable(fmt::format("the routes of the packet model may need at most {} channels", most_channels),
                            fmt::format("{} on {}", fabric.channels, machine.topology->name()), "take --model flow");
  }
  const std::uint64_t queues = std::uint64_t{fabric.links} * most_channels +
                               static_cast<std::uint64_t>(fabric.vertices) * static_cast<std::uint64_t>(fabric.engines);
  if (queues > most_queues)
    return not_applicable(fmt::format("the packet model knows at most {} queues at links and engines", most_queues),
                          queues, "take --model flow");
  if (Status s = add_arriving(fabric); !s) return s.error();
  return fabric;
}

} // namespace kumihimo::packet
