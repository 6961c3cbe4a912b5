#include "topology/dragonfly.hpp"

#include <fmt/format.h>

#include <limits>

namespace kumihimo {

Result<Dragonfly> Dragonfly::make(const Counts& c, std::int32_t nodes) {
  const auto wrong = [](std::string rule, std::string got) {
    return wrong_value(std::move(rule), std::move(got), "correct the counts of the dragonfly");
  };
  if (c.groups < 1 || c.routers < 1 || c.spines < 0 || c.nodes_per_router < 1 || c.node_cables < 1 ||
      c.global_cables < 1)
    return wrong("a dragonfly needs at least one of each of its parts", {});
  const double places = double(c.groups) * c.routers * c.nodes_per_router;
  if (nodes < 1 || nodes > places)
    return wrong(fmt::format("this dragonfly has places for 1 to {:.0f} nodes", places), fmt::format("{}", nodes));
  const double in_groups = double(c.groups) * (c.routers + double(c.spines)) * (c.routers + double(c.spines));
  const double links =
      2.0 * nodes * c.node_cables + 2 * in_groups + double(c.groups) * (c.groups - 1) * c.global_cables;
  if (links > std::numeric_limits<std::int32_t>::max())
    return wrong("a dragonfly has at most 2^31-1 links", fmt::format("about {:.0f}", links));
  return Dragonfly(c, nodes);
}

std::int32_t Dragonfly::router(NodeId node) const {
  const std::int32_t index = node.value / counts_.nodes_per_router;
  return index / counts_.routers * per_group() + index % counts_.routers;
}

// The switch of a group that holds a cable to the group `offset + 1` further on.
std::int32_t Dragonfly::gateway(std::int32_t group, std::int32_t offset, std::int32_t cable) const {
  const std::int64_t port = std::int64_t{offset} * counts_.global_cables + cable;
  const std::int32_t first = group * per_group();
  if (plus()) return first + counts_.routers + static_cast<std::int32_t>(port % counts_.spines);
  return first + static_cast<std::int32_t>(port % counts_.routers);
}

std::int64_t Dragonfly::locals_of_group() const {
  const std::int64_t a = counts_.routers;
  return plus() ? 2 * a * counts_.spines : a * (a - 1);
}

LinkId Dragonfly::node_link(NodeId node, std::int32_t cable, bool down) const {
  return LinkId{(std::int64_t{node.value} * counts_.node_cables + cable) * 2 + down};
}

LinkId Dragonfly::local(std::int32_t from, std::int32_t to) const {
  const std::int64_t first = first_local() + from / per_group() * locals_of_group();
  const std::int64_t i = from % per_group(), j = to % per_group(), a = counts_.routers;
  if (!plus()) return LinkId{first + i * (a - 1) + (j < i ? j : j - 1)};
  return i < a ? LinkId{first + (i * counts_.spines + j - a) * 2}
               : LinkId{first + (j * counts_.spines + i - a) * 2 + 1};
}

std::int64_t Dragonfly::global(std::int32_t group, std::int32_t offset, std::int32_t cable) const {
  return first_global() + (std::int64_t{group} * (counts_.groups - 1) + offset) * counts_.global_cables + cable;
}

std::int32_t Dragonfly::local_hops(std::int32_t from, std::int32_t to) const {
  if (from == to) return 0;
  const bool leaf = from % per_group() < counts_.routers, to_leaf = to % per_group() < counts_.routers;
  return plus() && leaf == to_leaf ? 2 : 1;
}

void Dragonfly::go_local(Way& way, std::int32_t to) const {
  if (way.at == to) return;
  if (local_hops(way.at, to) == 2) { // by a spine between leaves, by a leaf between spines
    const bool leaf = way.at % per_group() < counts_.routers;
    const auto choices = static_cast<std::uint64_t>(leaf ? counts_.spines : counts_.routers);
    const std::int32_t between =
        to / per_group() * per_group() + (leaf ? counts_.routers : 0) + static_cast<std::int32_t>(way.key % choices);
    way.route.push_back(local(way.at, between));
    way.at = between;
  }
  way.route.push_back(local(way.at, to));
  way.at = to;
}

void Dragonfly::go_to_group(Way& way, std::int32_t group, std::int32_t then) const {
  const std::int32_t here = way.at / per_group(), others = counts_.groups - 1, cables = counts_.global_cables;
  const std::int32_t offset = (group - here - 1 + counts_.groups) % counts_.groups, back = others - 1 - offset;
  const auto first = static_cast<std::int32_t>(way.key % static_cast<std::uint64_t>(cables));
  std::int32_t best = first, fewest = std::numeric_limits<std::int32_t>::max();
  for (std::int32_t i = 0; i < cables && fewest > 0; ++i) {
    const std::int32_t cable = (first + i) % cables;
    const std::int32_t hops = local_hops(way.at, gateway(here, offset, cable)) +
                              (then < 0 ? 0 : local_hops(gateway(group, back, cable), then));
    if (hops < fewest) fewest = hops, best = cable;
  }
  go_local(way, gateway(here, offset, best));
  way.route.push_back(LinkId{global(here, offset, best)});
  way.at = gateway(group, back, best);
}

void Dragonfly::append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const {
  if (from == to) return;
  const auto key = static_cast<std::uint64_t>(to.value);
  const auto cable = static_cast<std::int32_t>(key % static_cast<std::uint64_t>(counts_.node_cables));
  route.push_back(node_link(from, cable, false));
  Way way{route, router(from), key};
  const std::int32_t last = router(to), here = group(from), there = group(to);
  if (here != there) {
    if (valiant_ && counts_.groups > 2) {
      const std::int32_t low = std::min(here, there), high = std::max(here, there);
      auto by = static_cast<std::int32_t>(hash(from, to) % static_cast<std::uint64_t>(counts_.groups - 2));
      by += by >= low;
      by += by >= high;
      go_to_group(way, by, -1);
    }
    go_to_group(way, there, last);
  }
  go_local(way, last);
  route.push_back(node_link(to, cable, true));
}

std::int32_t Dragonfly::distance(NodeId from, NodeId to) const {
  std::vector<LinkId> route;
  append_route(from, to, route);
  return static_cast<std::int32_t>(route.size());
}

std::int32_t Dragonfly::diameter() const {
  if (nodes_ == 1) return 0;
  const std::int32_t across = plus() || counts_.routers > 1 ? 1 : 0; // a router to a gateway of its group
  if (used_groups() == 1) return 2 + (used_routers() == 1 ? 0 : plus() ? 2 : 1);
  if (!valiant_ || counts_.groups < 3) return 2 + 2 * across + 1;
  return 2 + 2 * across + 2 + (plus() ? 2 : across);
}

std::int32_t Dragonfly::link_class(LinkId link) const {
  return link.value < first_local() ? 0 : link.value < first_global() ? 1 : 2;
}

std::vector<Topology::Cut> Dragonfly::cuts() const {
  std::vector<Cut> all;
  if (nodes_ == 1) return all;
  const auto add = [&](std::int64_t inside, std::int32_t link_class, std::int64_t links) {
    const double share = static_cast<double>(inside) / nodes_;
    all.push_back({std::min(share, 1 - share), std::vector<std::int64_t>(3)});
    all.back().links[link_class] = links;
  };
  const std::int64_t half_nodes = nodes_ / 2, half_routers = used_routers() / 2, half_groups = used_groups() / 2;
  add(half_nodes, 0, half_nodes * counts_.node_cables);
  if (half_routers > 0 && plus()) add(half_routers * counts_.nodes_per_router, 1, half_routers * counts_.spines);
  if (half_routers > 0 && !plus() && half_groups == 0)
    add(half_routers * counts_.nodes_per_router, 1, half_routers * (used_routers() - half_routers));
  // What is minimally routed crosses no group but those of its ends.
  const std::int64_t groups = valiant_ ? counts_.groups : used_groups();
  if (half_groups > 0)
    add(half_groups * counts_.routers * counts_.nodes_per_router, 2,
        half_groups * (groups - half_groups) * counts_.global_cables);
  return all;
}

Topology::Link Dragonfly::describe(LinkId link) const {
  const auto said = [&](std::int32_t index) {
    const std::int32_t inside = index % per_group(), a = counts_.routers;
    if (!plus()) return fmt::format("router {} of group {}", inside, index / per_group());
    return fmt::format("{} {} of group {}", inside < a ? "leaf" : "spine", inside < a ? inside : inside - a,
                       index / per_group());
  };
  const auto joined = [&](std::int32_t from, std::int32_t to, std::string cable) {
    return Link{NodeId{nodes_ + from}, NodeId{nodes_ + to}, fmt::format("{} to {}{}", said(from), said(to), cable)};
  };
  if (link.value < first_local()) {
    const NodeId node{static_cast<std::int32_t>(link.value / 2 / counts_.node_cables)};
    const std::string there = said(router(node));
    const std::string cable =
        counts_.node_cables > 1 ? fmt::format(", cable {}", link.value / 2 % counts_.node_cables) : "";
    const NodeId end{nodes_ + router(node)};
    if (link.value % 2 == 1) return {end, node, fmt::format("{} to node {}{}", there, node.value, cable)};
    return {node, end, fmt::format("node {} to {}{}", node.value, there, cable)};
  }
  if (link.value < first_global()) {
    const std::int64_t index = link.value - first_local(), inside = index % locals_of_group(), a = counts_.routers;
    const auto first = static_cast<std::int32_t>(index / locals_of_group()) * per_group();
    if (!plus()) {
      const std::int64_t i = inside / (a - 1), j = inside % (a - 1);
      return joined(first + static_cast<std::int32_t>(i), first + static_cast<std::int32_t>(j < i ? j : j + 1), "");
    }
    const std::int32_t leaf = first + static_cast<std::int32_t>(inside / 2 / counts_.spines);
    const std::int32_t spine = first + static_cast<std::int32_t>(a + inside / 2 % counts_.spines);
    return inside % 2 == 0 ? joined(leaf, spine, "") : joined(spine, leaf, "");
  }
  const std::int64_t index = link.value - first_global(), pair = index / counts_.global_cables;
  const std::int32_t others = counts_.groups - 1, cable = static_cast<std::int32_t>(index % counts_.global_cables);
  const auto group = static_cast<std::int32_t>(pair / others), offset = static_cast<std::int32_t>(pair % others);
  return joined(gateway(group, offset, cable),
                gateway((group + offset + 1) % counts_.groups, others - 1 - offset, cable),
                counts_.global_cables > 1 ? fmt::format(", cable {}", cable) : "");
}

std::string Dragonfly::name() const {
  const auto& c = counts_;
  const std::string group =
      plus() ? fmt::format("{} leaves and {} spines", c.routers, c.spines) : fmt::format("{} routers", c.routers);
  return fmt::format("dragonfly{} of {} nodes, {} groups of {}, {}", plus() ? "+" : "", nodes_, c.groups, group,
                     routing());
}

std::vector<Level> Dragonfly::levels() const {
  std::vector<Level> all;
  const std::int32_t group = counts_.routers * counts_.nodes_per_router;
  if (used_groups() > 1 && group > 1) all.push_back({"group", group});
  if (used_routers() > 1 && counts_.nodes_per_router > 1 && counts_.routers > 1)
    all.push_back({"switch", counts_.nodes_per_router});
  return all;
}

std::shared_ptr<const Switched> Dragonfly::part(std::int32_t nodes) const {
  Dragonfly job(counts_, nodes);
  job.valiant_ = valiant_;
  return std::make_shared<Dragonfly>(std::move(job));
}

std::shared_ptr<const Switched> Dragonfly::routed(std::string_view routing) const {
  Dragonfly other = *this;
  other.valiant_ = routing == "valiant";
  return std::make_shared<Dragonfly>(std::move(other));
}

} // namespace kumihimo
