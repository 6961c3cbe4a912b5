#include "topology/fat_tree.hpp"

#include <fmt/format.h>

#include <limits>

namespace kumihimo {

FatTree::FatTree(std::vector<Tier> tiers, std::int32_t nodes)
    : tiers_(std::move(tiers)), nodes_(nodes), places_{1}, copies_{1}, first_{nodes}, first_link_{0} {
  for (std::int32_t level = 0; level < height(); ++level) {
    const Tier& tier = tiers_[level];
    first_link_.push_back(first_link_.back() +
                          std::int64_t{2} * subtrees(level) * copies_[level] * tier.parents * tier.cables);
    places_.push_back(places_.back() * tier.children);
    copies_.push_back(copies_.back() * tier.parents);
    first_.push_back(first_.back() + subtrees(level + 1) * copies_.back());
  }
}

Result<FatTree> FatTree::make(std::vector<Tier> tiers, std::int32_t nodes) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto wrong = [](std::string rule, std::string got) {
    return wrong_value(std::move(rule), std::move(got), "correct the levels of the fat tree");
  };
  if (tiers.empty()) return wrong("a fat tree needs at least one level of switches", {});
  std::int64_t places = 1, copies = 1;
  for (const Tier& t : tiers) {
    if (t.children < 1 || t.parents < 1 || t.cables < 1)
      return wrong("every level of a fat tree needs at least one child, parent and cable",
                   fmt::format("{}, {} and {}", t.children, t.parents, t.cables));
    if (places * t.children > most || copies * t.parents > most || std::int64_t{t.parents} * t.cables > most)
      return wrong("a fat tree has at most 2^31-1 places", {});
    places *= t.children, copies *= t.parents;
  }
  if (nodes < 1 || nodes > places)
    return wrong(fmt::format("this fat tree has places for 1 to {} nodes", places), fmt::format("{}", nodes));
  double links = 0, below = 1, tops = 1;
  for (const Tier& t : tiers) {
    links += 2 * (nodes / below + 1) * tops * t.parents * t.cables;
    below *= t.children, tops *= t.parents;
  }
  if (links > double(most)) return wrong("a fat tree has at most 2^31-1 links", fmt::format("{:.0f}", links));
  return FatTree(std::move(tiers), nodes);
}

std::int32_t FatTree::meeting(std::int32_t from, std::int32_t to) const {
  std::int32_t level = 0;
  while (from / places_[level] != to / places_[level]) ++level;
  return level;
}

std::int32_t FatTree::number(const Vertex& v) const {
  return (v.level == 0 ? 0 : first_[v.level - 1]) + v.subtree * copies_[v.level] + v.copy;
}

LinkId FatTree::link(const Vertex& child, std::int32_t port, bool down) const {
  const Tier& tier = tiers_[child.level];
  const std::int64_t vertex = std::int64_t{child.subtree} * copies_[child.level] + child.copy;
  return LinkId{first_link_[child.level] + (vertex * tier.parents * tier.cables + port) * 2 + down};
}

void FatTree::append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const {
  const std::int32_t top = meeting(from.value, to.value);
  const std::size_t begin = route.size();
  route.resize(begin + 2 * static_cast<std::size_t>(top));
  std::uint64_t key = ecmp_ ? hash(from, to) : static_cast<std::uint64_t>(to.value);
  Vertex up{0, from.value, 0};
  Vertex down{0, to.value, 0};
  // The way down is that of the destination's own ports, seen from below.
  for (std::int32_t level = 0; level < top; ++level) {
    const Tier& tier = tiers_[level];
    const auto ports = static_cast<std::uint64_t>(tier.parents) * static_cast<std::uint64_t>(tier.cables);
    const auto port = static_cast<std::int32_t>(key % ports);
    route[begin + static_cast<std::size_t>(level)] = link(up, port, false);
    route[begin + 2 * static_cast<std::size_t>(top) - 1 - static_cast<std::size_t>(level)] = link(down, port, true);
    key /= ecmp_ ? ports : static_cast<std::uint64_t>(tier.parents);
    const std::int32_t copy = up.copy + copies_[level] * (port % tier.parents);
    up = {level + 1, up.subtree / tier.children, copy};
    down = {level + 1, down.subtree / tier.children, copy};
  }
}

std::vector<std::string> FatTree::link_classes() const {
  std::vector<std::string> names;
  for (std::int32_t level = 1; level <= height(); ++level) names.push_back(fmt::format("level{}", level));
  return names;
}

std::int32_t FatTree::link_class(LinkId link) const {
  std::int32_t level = 0;
  while (link.value >= first_link_[level + 1]) ++level;
  return level;
}

std::vector<std::int64_t> FatTree::ports() const {
  std::vector<std::int64_t> all(tiers_.size());
  if (nodes_ > 1) all[0] = std::int64_t{tiers_[0].parents} * tiers_[0].cables;
  return all;
}

std::vector<Topology::Cut> FatTree::cuts() const {
  std::vector<Cut> all;
  for (std::int32_t level = 0; level < height() && subtrees(level) > 1; ++level) {
    const std::int64_t half = subtrees(level) / 2, inside = half * places_[level];
    const double share = static_cast<double>(inside) / nodes_;
    Cut cut{std::min(share, 1 - share), std::vector<std::int64_t>(tiers_.size())};
    cut.links[level] = half * copies_[level] * tiers_[level].parents * tiers_[level].cables;
    all.push_back(std::move(cut));
  }
  return all;
}

Topology::Link FatTree::describe(LinkId link) const {
  const std::int32_t level = link_class(link);
  const Tier& tier = tiers_[level];
  const std::int64_t cable = (link.value - first_link_[level]) / 2;
  const std::int32_t ports = tier.parents * tier.cables, port = static_cast<std::int32_t>(cable % ports);
  const auto vertex = static_cast<std::int32_t>(cable / ports);
  const Vertex low{level, vertex / copies_[level], vertex % copies_[level]};
  const Vertex high{level + 1, low.subtree / tier.children, low.copy + copies_[level] * (port % tier.parents)};
  const auto said = [](const Vertex& v) {
    return v.level == 0 ? fmt::format("node {}", v.subtree)
                        : fmt::format("switch {}.{} of level {}", v.subtree, v.copy, v.level);
  };
  const bool down = link.value % 2 == 1;
  const Vertex &from = down ? high : low, &to = down ? low : high;
  std::string name = fmt::format("{} to {}", said(from), said(to));
  if (tier.cables > 1) name += fmt::format(", cable {}", port / tier.parents);
  return {NodeId{number(from)}, NodeId{number(to)}, std::move(name)};
}

std::string FatTree::name() const {
  std::string arity;
  for (const Tier& tier : tiers_) arity += fmt::format("{}{}", arity.empty() ? "" : "x", tier.children);
  return fmt::format("fat tree {} of {} nodes, {}", arity, nodes_, routing());
}

std::vector<Level> FatTree::levels() const {
  std::vector<Level> all;
  for (std::int32_t level = height(); level >= 1; --level)
    if (subtrees(level) > 1 && places_[level] > places_[level - 1]) // or it is the level below once more
      all.push_back({level == 1 ? "switch" : fmt::format("level{}", level), places_[level]});
  return all;
}

std::shared_ptr<const Switched> FatTree::part(std::int32_t nodes) const {
  FatTree job(tiers_, nodes);
  job.ecmp_ = ecmp_;
  return std::make_shared<FatTree>(std::move(job));
}

std::shared_ptr<const Switched> FatTree::routed(std::string_view routing) const {
  FatTree other = *this;
  other.ecmp_ = routing == "ecmp";
  return std::make_shared<FatTree>(std::move(other));
}

} // namespace kumihimo
