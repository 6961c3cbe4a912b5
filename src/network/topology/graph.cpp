#include "topology/graph.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace kumihimo {
namespace {

constexpr std::int32_t most_relays = 4096;
constexpr std::int64_t most_edges = 1 << 24;

struct EdgeText {
  std::int32_t first = 0, last = 0, to = 0, cables = 1;
  std::string link_class;
};

std::optional<EdgeText> parse_edge(std::string_view text) {
  EdgeText e;
  const auto first = take_count(text);
  if (!first) return std::nullopt;
  e.first = e.last = *first;
  if (take(text, "..")) {
    const auto last = take_count(text);
    if (!last || *last < e.first) return std::nullopt;
    e.last = *last;
  }
  if (!take(text, "-")) return std::nullopt;
  const auto to = take_count(text);
  if (!to) return std::nullopt;
  e.to = *to;
  const auto digits = [](std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  bool counted = false;
  while (take(text, " ")) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    if (word.starts_with('x') && digits(word.substr(1))) {
      std::string_view count = word.substr(1);
      const auto cables = take_count(count);
      if (counted || !cables || *cables < 1) return std::nullopt;
      e.cables = *cables, counted = true;
    } else {
      const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
      if (word.empty() || !plain || counted || !e.link_class.empty()) return std::nullopt;
      e.link_class = word;
    }
  }
  return text.empty() ? std::optional(e) : std::nullopt;
}

} // namespace

Result<GraphTopology::Edges> GraphTopology::parse(std::span<const std::string> texts) {
  Edges all;
  bool unnamed = false;
  std::vector<std::pair<EdgeText, std::size_t>> read;
  std::int64_t count = 0;
  for (const std::string& text : texts) {
    const auto edge = parse_edge(text);
    if (!edge || (count += (std::int64_t{edge->last} - edge->first + 1) * edge->cables) > most_edges)
      return wrong_value("an edge is VERTEX-VERTEX or FIRST..LAST-VERTEX, then its class and number of cables",
                         fmt::format("\"{}\"", text), "write \"3-17\", or \"0..15-20 uplink x4\"");
    const auto known = std::find(all.classes.begin(), all.classes.end(), edge->link_class);
    read.emplace_back(*edge, known - all.classes.begin());
    if (edge->link_class.empty())
      unnamed = true;
    else if (known == all.classes.end())
      all.classes.push_back(edge->link_class);
  }
  if (unnamed && !all.classes.empty()) { // those without a class have the machine's link_bandwidth
    for (auto& [edge, at] : read) at = edge.link_class.empty() ? all.classes.size() : at;
    all.classes.emplace_back("other");
  }
  for (const auto& [edge, at] : read)
    for (std::int64_t a = edge.first; a <= edge.last; ++a) // the last may be 2^31-1
      all.edges.insert(
          all.edges.end(), static_cast<std::size_t>(edge.cables),
          Edge{static_cast<std::int32_t>(a), edge.to, all.classes.empty() ? 0 : static_cast<std::int32_t>(at)});
  return all;
}

void GraphTopology::find_distances(Cables& c) {
  const auto relays = static_cast<std::size_t>(c.relays());
  c.hops.assign(relays * relays, -1);
  std::vector<std::int32_t> queue;
  for (std::size_t from = 0; from < relays; ++from) {
    std::int16_t* hops = &c.hops[from * relays];
    hops[from] = 0;
    queue.assign(1, static_cast<std::int32_t>(from));
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const Port& port : c.ports[static_cast<std::size_t>(queue[i] + c.first_relay)]) {
        const std::int32_t next = port.to - c.first_relay;
        if (next < 0 || hops[next] >= 0) continue;
        hops[next] = static_cast<std::int16_t>(hops[queue[i]] + 1);
        queue.push_back(next);
      }
  }
}

Result<GraphTopology> GraphTopology::make(std::int32_t nodes, std::int32_t switches, Edges edges) {
  auto c = std::make_shared<Cables>();
  const std::int64_t vertices = std::int64_t{nodes} + switches;
  if (nodes < 1 || switches < 0 || vertices > most_edges)
    return wrong_value("a graph has at least one node", fmt::format("{} nodes, {} switches", nodes, switches),
                       "correct the counts of the graph");
  c->nodes = nodes, c->vertices = static_cast<std::int32_t>(vertices);
  c->first_relay = switches > 0 ? nodes : 0;
  if (c->relays() > most_relays)
    return wrong_value(
        fmt::format("a graph has at most {} {}", most_relays, switches > 0 ? "switches" : "nodes without switches"),
        c->relays(), "describe it by its family");
  c->ports.resize(static_cast<std::size_t>(vertices));
  for (std::size_t i = 0; i < edges.edges.size(); ++i) {
    const Edge& e = edges.edges[i];
    if (e.a < 0 || e.b < 0 || e.a >= vertices || e.b >= vertices || e.a == e.b)
      return wrong_value(fmt::format("an edge joins two vertices of the graph, 0 to {}", vertices - 1),
                         fmt::format("{}-{}", e.a, e.b), "number nodes first, then switches, from 0");
    const auto link = static_cast<std::int64_t>(i) * 2;
    c->ports[static_cast<std::size_t>(e.a)].push_back({e.b, LinkId{link}});
    c->ports[static_cast<std::size_t>(e.b)].push_back({e.a, LinkId{link + 1}});
  }
  c->all = std::move(edges);
  find_distances(*c);
  GraphTopology graph(std::move(c), nodes);
  if (const auto& apart = graph.apart_)
    return wrong_value("a graph must have a path between any two nodes",
                       fmt::format("none between node {} and node {}", apart->first, apart->second),
                       "add the edges that join them");
  return graph;
}

GraphTopology::GraphTopology(std::shared_ptr<const Cables> cables, std::int32_t nodes)
    : cables_(std::move(cables)), nodes_(nodes) {
  // Nodes with the same ports are as far from all others: one of each is looked at, or two for the way between them.
  std::vector<std::int32_t> different;
  std::map<std::vector<std::int32_t>, int> seen;
  for (std::int32_t node = 0; node < nodes_; ++node) {
    std::vector<std::int32_t> key;
    for (const Port& port : cables_->ports[static_cast<std::size_t>(node)]) key.push_back(port.to);
    if (cables_->first_relay == 0 || ++seen[key] <= 2) different.push_back(node);
  }
  for (const std::int32_t a : different)
    for (const std::int32_t b : different) {
      const std::int32_t hops = ends(a, b).hops;
      if (hops < 0 && !apart_) apart_ = {a, b};
      diameter_ = std::max(diameter_, hops);
    }
}

GraphTopology::Ends GraphTopology::ends(std::int32_t from, std::int32_t to) const {
  const Cables& c = *cables_;
  Ends best;
  if (from == to) return {from, to, nullptr, nullptr, 0};
  if (c.first_relay == 0) return {from, to, nullptr, nullptr, c.distance(from, to), to};
  const auto &up = c.ports[static_cast<std::size_t>(from)], &down = c.ports[static_cast<std::size_t>(to)];
  std::int64_t equal = 0; // ways as short as the best
  const auto offer = [&](const Ends& way) {
    if (best.hops >= 0 && way.hops > best.hops) return;
    if (best.hops < 0 || way.hops < best.hops) best = way, equal = 0;
    ++equal;
  };
  const auto each = [&](auto&& visit) {
    for (const Port& u : up) {
      if (u.to == to) visit(Ends{-1, -1, &u, nullptr, 1});
      if (u.to < c.first_relay) continue;
      for (const Port& d : down)
        if (d.to >= c.first_relay && c.distance(u.to, d.to) >= 0)
          visit(Ends{u.to, d.to, &u, &d, 2 + c.distance(u.to, d.to)});
    }
  };
  each(offer);
  best.key = to;
  if (equal < 2) return best;
  std::int64_t wanted = to % equal;
  Ends chosen = best;
  each([&](const Ends& way) {
    if (way.hops == best.hops && wanted-- == 0) chosen = way;
  });
  chosen.key = to / equal;
  return chosen;
}

void GraphTopology::append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const {
  if (from == to) return;
  const Ends way = ends(from.value, to.value);
  if (way.up) route.push_back(way.up->link);
  if (way.up && !way.down) return; // a cable between the two
  const Cables& c = *cables_;
  // What is left of the destination's number once a choice is made by it: else all levels of a tree choose alike.
  std::int64_t key = way.key;
  for (std::int32_t at = way.first; at != way.last;) {
    const auto nearer = [&](const Port& port) {
      return port.to >= c.first_relay && c.distance(port.to, way.last) == c.distance(at, way.last) - 1;
    };
    const auto& ports = c.ports[static_cast<std::size_t>(at)];
    const std::int64_t equal = std::count_if(ports.begin(), ports.end(), nearer);
    std::int64_t left = key % equal;
    key /= equal;
    for (const Port& port : ports)
      if (nearer(port) && left-- == 0) {
        route.push_back(port.link);
        at = port.to;
        break;
      }
  }
  if (way.down) route.push_back(LinkId{way.down->link.value ^ 1});
}

std::int32_t GraphTopology::distance(NodeId from, NodeId to) const { return ends(from.value, to.value).hops; }

std::int32_t GraphTopology::link_class(LinkId link) const {
  return cables_->all.edges[static_cast<std::size_t>(link.value / 2)].link_class;
}

std::vector<std::int64_t> GraphTopology::ports() const {
  std::vector<std::int64_t> most(std::max<std::size_t>(cables_->all.classes.size(), 1));
  for (std::int32_t node = 0; node < nodes_; ++node) {
    std::vector<std::int64_t> mine(most.size());
    for (const Port& port : cables_->ports[static_cast<std::size_t>(node)])
      ++mine[static_cast<std::size_t>(link_class(port.link))];
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], mine[i]);
  }
  return most;
}

std::vector<Topology::Cut> GraphTopology::cuts() const {
  const std::int32_t half = nodes_ / 2;
  if (half == 0) return {};
  Cut cut{static_cast<double>(half) / nodes_,
          std::vector<std::int64_t>(std::max<std::size_t>(cables_->all.classes.size(), 1))};
  for (const Edge& e : cables_->all.edges)
    if ((e.a < half) != (e.b < half)) ++cut.links[static_cast<std::size_t>(e.link_class)];
  return {std::move(cut)};
}

Topology::Link GraphTopology::describe(LinkId link) const {
  const Edge& e = cables_->all.edges[static_cast<std::size_t>(link.value / 2)];
  const bool back = link.value % 2 == 1;
  const auto said = [&](std::int32_t v) {
    return v < cables_->nodes ? fmt::format("node {}", v) : fmt::format("switch {}", v - cables_->nodes);
  };
  const std::int32_t from = back ? e.b : e.a, to = back ? e.a : e.b;
  return {NodeId{from}, NodeId{to}, fmt::format("{} to {}, edge {}", said(from), said(to), link.value / 2)};
}

std::string GraphTopology::name() const {
  return fmt::format("graph of {} nodes and {} switches", nodes_, cables_->vertices - cables_->nodes);
}

std::vector<Level> GraphTopology::levels() const {
  if (cables_->first_relay == 0) return {};
  std::vector<std::int32_t> sizes; // of runs of nodes with the same ports
  const std::vector<Port>* before = nullptr;
  const auto same = [](const Port& a, const Port& b) { return a.to == b.to; };
  for (std::int32_t node = 0; node < nodes_; ++node) {
    const auto& ports = cables_->ports[static_cast<std::size_t>(node)];
    if (before && std::equal(ports.begin(), ports.end(), before->begin(), before->end(), same))
      ++sizes.back();
    else
      sizes.push_back(1);
    before = &ports;
  }
  const std::int32_t size = sizes.front();
  const bool even = std::all_of(sizes.begin(), sizes.end() - 1, [&](std::int32_t n) { return n == size; });
  if (!even || sizes.back() > size || size == 1 || sizes.size() < 2) return {};
  return {{"switch", size}};
}

std::shared_ptr<const Switched> GraphTopology::part(std::int32_t nodes) const {
  return std::make_shared<GraphTopology>(GraphTopology(cables_, nodes));
}

} // namespace kumihimo
